"""Job posts: pay ranges, closing dates, and where and how senior the work is."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join
from deg_core.generator.vocabulary import CITIES, phrases

TITLES = phrases("Data Engineer", "Pastry Chef", "Warehouse Planner", "Site Electrician", "Tax Accountant", "Lab Technician",
                 "Copy Editor", "Fleet Mechanic", "Interior Designer", "Payroll Officer", "Network Administrator", "Welder",
                 "Museum Guide", "Quality Inspector", "Crane Operator", "UX Researcher", "Buyer", "Physiotherapist",
                 "Process Chemist", "Ticketing Agent", "Land Surveyor", "Sommelier")  # fmt: skip
SKILLS = phrases("SQL", "forklift licence", "Python", "stock control", "SAP", "Portuguese", "AutoCAD", "first aid", "bookkeeping",
                 "TIG welding", "food hygiene", "Excel", "customer care", "German", "blueprint reading", "Kubernetes", "negotiation",
                 "photography", "public speaking", "Linux", "GMP", "Swedish", "copywriting", "hydraulics")  # fmt: skip
SENIORITY = {
    "junior": phrases("You may come straight from school; we teach you everything.", "No experience is needed, as a mentor sits beside you.",
                      "This is a first job for a recent graduate.", "Newcomers to the trade are exactly whom we look for.",
                      "You are at the very start of your career.", "Your training begins with us from zero."),
    "mid": phrases("You have done this work for two or three years.", "You work on your own, without leading others.",
                   "Some years in the trade are behind you, though nobody reports to you.", "After a few years of practice you need little guidance.",
                   "You know the routine well and now want your second position.", "Three years of practice are about right."),
    "senior": phrases("You bring well over ten years and will lead a team of your own.", "The whole department will report to you.",
                      "You have long shaped this field and coach others in it.", "As the most experienced person here, you set the standards.",
                      "Younger colleagues will turn to you, a veteran of the trade.", "After a long career you are ready to direct a unit."),
}  # fmt: skip
PLACES = {
    "on_site": phrases("The work needs your hands, so you are with us every day.", "All five days are spent at our premises.",
                       "You will be at the counter each day of the week.", "It cannot be done from home.",
                       "Presence is required throughout the week."),
    "hybrid": phrases("Two days a week you may stay at home.", "You split the week between our office and your own desk.",
                      "Mondays and Fridays are for home, the rest is with us.", "Half of the week you come in, half you do not.",
                      "We meet on Wednesdays in the office and otherwise leave it to you."),
    "remote": phrases("You can live anywhere, as we have no office at all.", "You never have to come in.",
                      "All of the team works from home, in six countries.", "Your kitchen table will do, every day of the year.",
                      "We see each other on screen only."),
}  # fmt: skip
LASTING = {
    True: phrases("The contract has no end date.", "We offer an open-ended position.", "You join us for good.", "The post is permanent.",
                  "We hope that you stay until you retire."),
    False: phrases("The post ends when our colleague returns from parental leave.", "It is a contract for eight months.",
                   "We need you for the summer season.", "The project, and with it the job, is over after a year.",
                   "The position covers a sabbatical and then lapses."),
}  # fmt: skip
DRIVING = {
    True: phrases("You need a driving licence.", "Part of the job is driving our van.", "Without a licence for a car it does not work.",
                  "You will be at the wheel between branches."),
    False: phrases("You need not be able to drive.", "No driving is involved.", "A licence is not asked for.", "Those without a licence are welcome."),
}  # fmt: skip
POSTED = phrases("Posted {d}", "Published on {d}", "Online since {d}", "Advertised from {d}", "First listed {d}")
CLOSES = phrases("Apply by {d}", "Applications close {d}", "Closing date: {d}", "We accept letters until {d}", "Last day to apply: {d}",
                 "Send your papers before the end of {d}")  # fmt: skip
STARTS = phrases(
    "First day of work: {d}", "The job starts on {d}", "You begin on {d}", "Entry date {d}", "Work begins {d}"
)
OTHER_DAY = phrases("Open house on {d}", "Interviews take place around {d}", "The salary table dates from {d}", "Our new hall opened on {d}",
                    "Collective agreement of {d}", "Works council election: {d}")  # fmt: skip
PAY = phrases("between {a} and {b} a year", "a yearly salary of {a} to {b}", "from {a} up to {b} per year", "{a} - {b} annually",
              "yearly pay from {a} to {b}")  # fmt: skip
NO_PAY = phrases("pay by agreement", "a fair salary", "pay according to the collective agreement", "competitive pay")
OTHER_SUM = phrases("a training budget of {a}", "a relocation grant of {a}", "a yearly bonus near {a}", "a signing bonus of {a}",
                    "a travel allowance of {a}")  # fmt: skip
HEADCOUNT = phrases("{n} people work here", "we are {n} colleagues", "a house with {n} employees", "our staff of {n}")
VACANCIES = phrases("{n} openings", "{n} posts to fill", "we hire {n} people", "{n} vacancies")
LINK = phrases("Form: {u}", "Apply at {u}", "Send the form at {u}", "Online: {u}")
OTHER_LINK = phrases("About us: {u}", "Our story: {u}", "Benefits are listed at {u}", "Meet the team: {u}")
WANTED = phrases(
    "We ask for {list}.", "You bring {list}.", "What you need: {list}.", "Must-haves: {list}.", "Required: {list}."
)
NICE = phrases("{x} would be a bonus.", "Nice to have: {x}.", "{x} is welcome but no must.", "{x} can be learned here.")
LAYOUTS = phrases(
    "{title}\n{company}, {city}\n{dates}\n\n{body}\n\nPay: {pay}; {other_pay}.\n{wanted}\n\n{other_link}\n{link}\nQuestions: {recruiter}, {mail}",
    "{company} is looking for: {title}\nPlace: {city}\n\n{body} {wanted} We offer {pay} and {other_pay}. In figures: {count}.\n\n{dates}\nContact {recruiter} ({mail}), "
    "not the press office ({other_mail}).\n{link}",
    "Subject: Vacancy {title}\nFrom: {other_mail}\n\nDear all,\n\nour client {company} in {city} has an opening, namely {title}. {body} {wanted}\n"
    "They offer {other_pay} and {pay}. {dates_inline}.\nPlease write to {recruiter} at {mail}. {link}",
    "Press: {other_mail} | {other_link}\nJobs: {mail} ({recruiter})\n\n{count} - {company}, {city}\nWanted: {title}\n{wanted}\n{body}\n{other_pay}, {pay}\n{dates}\n{link}",
    "{dates_inline}.\n\nJoin {company}! In {city}, {count}. The role: {title}. {body}\n\n{wanted} Besides {other_pay} there is {pay}.\n\n{recruiter}\n{mail}\n{link}",
    "Role: {title}\nEmployer: {company}\nCity: {city}\nSalary: {pay}\nExtras: {other_pay}\n{dates}\n\n{body}\n{wanted}\n\n{other_link}\n{link}\nMail to: {mail} ({recruiter}); press: {other_mail}",
    "Vacancy at {company}\n\n{body}\n\n{other_link}\n{pay}; {other_pay}; {count}\n\nLooking for a person as {title} in {city}. {wanted}\n{link}\nTo {recruiter}, {mail} (advertising: {other_mail})\n{dates}",
    "{recruiter} <{mail}> wrote:\n\nWe at {company} need you. {wanted} {body} Your office would be in {city}, your card would say {title}, and you would get {other_pay} as well as {pay}.\n\n{dates_inline}.\n{other_link}\n{link}\ncc {other_mail}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a vacancy."""
    seniority, place = draw.one(tuple(SENIORITY)), draw.one(tuple(PLACES))
    lasting, driving = draw.chance(0.5), draw.one((True, False, None))
    for key, value in (
        ("seniority", seniority),
        ("place", place),
        ("lasting", lasting),
        ("drives", driving),
        ("leads", seniority == "senior"),
    ):
        draw.know(key, value)
    company, title, city = draw.company(), draw.wording(TITLES), draw.fresh(CITIES)
    recruiter, press = draw.person(), draw.person()
    where = {"on_site": "on site", "hybrid": "partly from home", "remote": "fully remote"}[place]
    draw.know(
        "summary",
        f"{company} seeks a {seniority}-level {title} to work {where} in {'a permanent' if lasting else 'a temporary'} post.",
    )
    sentences = [draw.phrase(SENIORITY[seniority]), draw.phrase(PLACES[place]), draw.phrase(LASTING[lasting])]
    if driving is not None:
        sentences.append(draw.phrase(DRIVING[driving]))
    dates = _dates(draw)
    pay, other_pay = _pay(draw)
    host = f"https://www.{recruiter.last.lower() if recruiter.last.isascii() and recruiter.last.isalpha() else 'our'}-jobs.example"
    vacancies = draw.rng.randrange(2, 9)
    return {
        "title": draw.say("title", title),
        "company": draw.say("company", company),
        "city": draw.say("city", city),
        "recruiter": draw.say("recruiter", recruiter.full),
        "mail": draw.say("mail", recruiter.email),
        "other_mail": press.email,
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "pay": pay,
        "other_pay": other_pay,
        "count": join(
            ", ",
            draw.shuffled(
                [draw.phrase(HEADCOUNT, n=str(draw.rng.randrange(12, 900))), draw.phrase(VACANCIES, n=str(vacancies))]
            ),
        ),
        "body": join(" ", draw.shuffled(sentences)),
        "wanted": _skills(draw),
        "link": draw.maybe(
            0.65, "link", lambda: draw.phrase(LINK, u=draw.say("link", f"{host}/{draw.rng.randrange(1000, 9999)}"))
        ),
        "other_link": draw.phrase(OTHER_LINK, u=f"{host}/{draw.one(('about', 'team', 'house', 'life'))}"),
    }


def _dates(draw: Draw) -> Sequence[Part]:
    posted = draw.phrase(POSTED, d=draw.say_day("posted", draw.today))
    closes = draw.maybe(0.65, "closes", lambda: draw.phrase(CLOSES, d=draw.say_day("closes", draw.day(14, 40))))
    starts = draw.maybe(0.5, "starts", lambda: draw.phrase(STARTS, d=draw.say_day("starts", draw.day(60, 150))))
    other = draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-50, 50)))
    return draw.shuffled([posted, closes, starts, other])


def _pay(draw: Draw) -> tuple[Part, Part]:
    """The range (or words without one) and a sum that is no salary."""
    other = draw.phrase(OTHER_SUM, a=draw.with_currency(draw.print_whole(draw.rng.randrange(5, 60) * 100)))
    if draw.chance(0.25):
        draw.know("pay_from", None)
        draw.know("pay_to", None)
        return draw.phrase(NO_PAY), other
    low = draw.rng.randrange(240, 800) * 100
    high = low + draw.rng.randrange(20, 200) * 100
    a, b = draw.say_whole("pay_from", low), draw.say_whole("pay_to", high)
    return draw.phrase(PAY, a=draw.with_currency(a), b=draw.with_currency(b)), other


def _skills(draw: Draw) -> Part:
    count = draw.one((1, 2, 3, 3, 4))
    draw.know("skills", count)
    wanted = [draw.say(f"skills/{i}", skill) for i, skill in enumerate(draw.several(SKILLS, count))]
    return join(
        " ", [draw.phrase(WANTED, list=join(", ", wanted)), capitalised(draw.phrase(NICE, x=draw.fresh(SKILLS)))]
    )


VARIANTS = {
    "board": s.group(
        {
            "title": s.text("title"),
            "company": s.text("company"),
            "city": s.text("city"),
            "posted_on": s.day("posted"),
            "closing_date": s.day("closes", "Last day to apply.", null=True),
            "salary_min": s.number("pay_from", null=True),
            "salary_max": s.number("pay_to", null=True),
            "seniority": s.choice("seniority", {k: k for k in SENIORITY}),
            "workplace": s.choice("place", {"on_site": "on_site", "hybrid": "hybrid", "remote": "remote"}),
            "permanent": s.yes_no("lasting"),
            "apply_url": s.text("link", "Page with the application form.", null=True, format="uri"),
            "skills": s.items("skills", s.text(""), "Skills that are required."),
            "summary": s.written("summary", "One sentence: who seeks whom, at what level, where and for how long."),
        }
    ),
    "matching": s.group(
        {
            "employer": s.text("company"),
            "role": s.text("title", "Job title."),
            "level": s.choice(
                "seniority",
                {"junior": ("entry", "No experience needed."), "mid": ("experienced", "A few years of practice."), "senior": ("lead", "Leads others.")},
            ),
            "home_office": s.choice("place", {"on_site": "never", "hybrid": "partly", "remote": "always"}, "How much work is done from home."),
            "driving_needed": s.yes_no("drives", "Null when the post does not say.", null=True),
            "pay": s.group({"from": s.integer("pay_from", null=True), "to": s.integer("pay_to", null=True)}, "Yearly salary."),
            "first_day": s.day("starts", "First day of work.", optional=True),
            "apply_before": s.day("closes", optional=True),
            "requirements": s.items("skills", s.text("")),
        }
    ),
    "recruiter": s.group(
        {
            "contact": s.group({"name": s.text("recruiter"), "email": s.text("mail", format="email")}, "Who takes applications."),
            "vacancy": s.text("title"),
            "location": s.text("city"),
            "advertised": s.day("posted"),
            "starts": s.day("starts", null=True),
            "max_salary": s.number("pay_to", optional=True),
            "manages_people": s.yes_no("leads", "Will others report to this person?"),
            "temporary": s.choice("lasting", {True: "no", False: "yes"}),
            "form": s.text("link", optional=True, format="uri"),
            "must_have": s.items("skills", s.text(""), most=6),
            "teaser": s.written("summary", "One sentence: who seeks whom, at what level, where and for how long."),
        }
    ),
}  # fmt: skip
JOB_POST = Kind("job_post", LAYOUTS, compose, VARIANTS)
