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
                 "Museum Guide", "Quality Inspector", "Crane Operator", "UX Researcher", "Buyer", "Florist", "Claims Handler",
                 "Dental Nurse", "Translator", "Bicycle Fitter", "Sound Engineer", "Receptionist", "Bookbinder", "Glazier",
                 "Software Tester", "Optician", "Cheesemaker", "Upholsterer",
                 "Physiotherapist", "Process Chemist", "Ticketing Agent", "Land Surveyor", "Sommelier", "Arborist", "Actuary",
                 "Stonemason", "Web Developer", "Radiographer")  # fmt: skip
SKILLS = phrases("SQL", "forklift repair", "Python", "stock control", "SAP", "Portuguese", "AutoCAD", "first aid", "bookkeeping",
                 "TIG welding", "food hygiene", "Excel", "customer care", "German", "blueprint reading", "Kubernetes", "negotiation",
                 "photography", "French", "soldering", "knife skills", "CNC programming", "statistics", "sewing", "sign language",
                 "Docker", "touch typing", "data protection", "plumbing", "colour matching",
                 "public speaking", "Linux", "GMP", "Swedish", "copywriting", "hydraulics", "Italian", "proofreading",
                 "laser cutting", "Terraform")  # fmt: skip
SENIORITY = {
    "junior": phrases("You may come straight from school; we teach you everything.", "No experience is needed, as a mentor sits beside you.",
                      "This is a first job for a recent graduate.", "Newcomers to the trade are exactly whom we look for.",
                      "You are at the very start of your career.", "Level: junior, no experience required.", "This is an entry-level post.",
                      "Experience: none needed.", "We are hiring a junior colleague.", "Whoever has never held such a job is as welcome as anyone.",
                      "The ink on your diploma may still be wet.", "Beginners suit us best, since we would rather teach than correct old habits.",
                      "Your training begins with us from zero.", "It is a starter role.", "Previous practice in the field: not required.",
                      "We do not mind if your CV is still an empty page."),
    "mid": phrases("You have done this work for two or three years.", "You work on your own, without leading others.",
                   "Some years in the trade are behind you, though nobody reports to you.", "After a few years of practice you need little guidance.",
                   "You know the routine well and now want your second position.", "Level: mid, some experience.",
                   "Experience: a few years; no staff responsibility.", "This is a mid-level post.",
                   "We want somebody who is no longer a beginner and not yet a boss.",
                   "The learning stage is over for you, yet leading people is no part of the job.",
                   "By now you handle the ordinary cases alone and ask only about the odd ones.",
                   "You finished your training some years ago and want to practise the craft itself, not run a team.",
                   "Three years of practice are about right.", "An intermediate position: practised, but with no one under you.",
                   "Career stage: in the middle, after a handful of years.", "You no longer need a mentor and do not have to manage anyone either."),
    "senior": phrases("You bring well over ten years and will lead a team of your own.", "The whole department will report to you.",
                      "You have long shaped this field and lead others in it.", "As the most experienced person here, you set the standards and lead the rest of us.",
                      "Younger colleagues will report to you, a veteran of the trade.", "Level: senior, with staff responsibility.",
                      "Experience: extensive; you head the team.", "We are looking for a senior person to be in charge of our group.",
                      "This is a leading position for a highly experienced professional.",
                      "You hire, guide and appraise your own people, as you have done for many years.",
                      "You know every trick of the trade and will be the boss of those who are still learning them.",
                      "Holiday requests from the whole crew go to you, and long practice has taught you how to answer them.",
                      "After a long career you are ready to direct a unit.", "Seniority: top level, as head of a section.",
                      "Several colleagues will have you as their superior, on the strength of your many years in the job.",
                      "When your team disagrees, the last word is yours, backed by decades in the profession."),
}  # fmt: skip
PLACES = {
    "on_site": phrases("The work needs your hands, so you are with us every day.", "All five days are spent at our premises.",
                       "You will be at the counter each day of the week.", "It cannot be done from home.", "Place of work: on site.",
                       "Home office: not possible.", "You come in every working day.", "The job is tied to our building, from Monday to Friday.",
                       "Remote work is not on offer.", "Everything you need stands in our workshop, and none of it can be carried home.",
                       "We want to see you in person day after day.", "Nobody here works from the sofa, and you will not either.",
                       "Presence is required throughout the week.", "Working from home: never.", "The employee must be on the premises each day.",
                       "Our machines cannot be moved, so you have to stand next to them all week."),
    "hybrid": phrases("Two days a week you may stay at home.", "You split the week between our office and your own desk.",
                      "Mondays and Fridays are for home, the rest is with us.", "Half of the week you come in, half you do not.",
                      "Place of work: hybrid.", "Home office: on some days, not on all.", "Working from home is possible for part of the week.",
                      "You will be in the office on some days and at home on the others.", "We mix remote work with days on the premises.",
                      "Bring your laptop in for the team days and take it home again for the quiet ones.",
                      "Your cat will have you at home on one day and miss you on the next.",
                      "Neither the full week at home nor the full week at our place, but a bit of each.",
                      "We meet on Wednesdays in the office and otherwise leave it to you.", "Workplace: mixed, home and office.",
                      "Some of the hours are worked at home, the remainder on our premises.",
                      "A desk is kept for you, but it may be empty on the days when you prefer your own study."),
    "remote": phrases("You can live anywhere, as we have no office at all.", "You never have to come in.",
                      "All of the team works from home, in six countries.", "Your kitchen table will do, every day of the year.",
                      "Place of work: fully remote.", "Home office: always.", "You work from home all week.",
                      "The whole job is done from wherever you like.", "No commute, no badge, no desk at headquarters: you log in and start.",
                      "There is no need to visit us at any time.", "Your colleagues will know you from video calls alone.",
                      "We gave up our rooms long ago, and everyone works within their own four walls.",
                      "We see each other on screen only.", "Presence on site: none at all.", "The position is carried out entirely from your home.",
                      "Wherever there is a good connection, there is your workplace, month after month."),
}  # fmt: skip
LASTING = {
    True: phrases("The contract has no end date.", "We offer an open-ended position.", "You join us for good.", "The post is permanent.",
                  "Contract: permanent.", "Duration: unlimited.", "This job comes without an expiry date.", "You are employed for an indefinite period.",
                  "Once you are in, the job is yours for as long as you like.", "Plan your future with us, since the post is not going to lapse.",
                  "We hire you for the long haul, not for a project.", "Short stints are not for us: whoever joins is meant to grow old here.",
                  "We hope that you stay until you retire.", "Term of employment: open-ended.", "Your contract will never run out.",
                  "We picture you still among us decades from now."),
    False: phrases("The post ends when our colleague returns from parental leave.", "It is a contract for eight months.",
                   "We need you for the summer season.", "The project, and with it the job, is over after a year.",
                   "Contract: temporary.", "Duration: limited.", "This is a fixed-term post.", "The job is limited to half a year.",
                   "You stand in for somebody who will be back next year.", "We need help until the backlog is cleared, and no longer.",
                   "Once the stocktaking is finished, your contract runs out.", "From the outset it is clear that we part again after the busy months.",
                   "The position covers a sabbatical and then lapses.", "Term of employment: fixed, with an end.",
                   "We can only give you the post for a while.", "When the exhibition closes, so does this job."),
}  # fmt: skip
DRIVING = {
    True: phrases("You need a driving licence.", "Part of the job is driving our van.", "Without a licence for a car it does not work.",
                  "Driving licence: required.", "Driving: yes, part of the job.", "You must be able to drive a car.",
                  "A valid car licence is a condition.", "Applicants who may not drive cannot be considered.",
                  "We expect you to drive the firm's car now and then.", "Once in a while you take the delivery van out.",
                  "We hand you the keys of a company car, which you will need for your errands.",
                  "Parcels have to be taken to the post by car, and that will be your task.",
                  "You will be at the wheel between branches.", "Licence for a car: necessary.", "Those who cannot drive are unable to do this job.",
                  "The steering wheel will be one of your tools."),
    False: phrases("You need not be able to drive.", "No driving is involved.", "A licence for a car is not asked for.",
                   "Driving licence: not required.", "Driving: none.", "You will not have to drive.", "It does not matter whether you can drive.",
                   "Whether you hold a car licence makes no difference to us.", "We own no cars, and you will not need one for the work.",
                   "You can have failed every driving test and still get this job.", "All errands are done by bicycle or on foot.",
                   "At no point will you sit behind a wheel.",
                   "Those without a driving licence are welcome.", "Licence for a car: unnecessary.", "The job can be done without ever driving.",
                   "If something has to be fetched by car, a driver does it, not you."),
}  # fmt: skip
POSTED = phrases("Posted {d}", "Published on {d}", "Online since {d}", "Advertised from {d}", "Date of posting: {d}",
                 "This advertisement went online on {d}", "Vacancy published {d}", "We put up this notice on {d}", "Ad released {d}",
                 "First listed {d}", "Listing created on {d}", "This vacancy first appeared on {d}")  # fmt: skip
CLOSES = phrases("Apply by {d}", "Applications close {d}", "Closing date: {d}", "We accept letters until {d}", "Last day to apply: {d}",
                 "Deadline for applications: {d}", "Your application must reach us by {d}", "We stop taking applications on {d}",
                 "Open for applications until {d}",
                 "Send your papers before the end of {d}", "You can apply no later than {d}", "Application deadline {d}")  # fmt: skip
STARTS = phrases("First day of work: {d}", "The job starts on {d}", "You begin on {d}", "Entry date {d}", "Start of work: {d}",
                 "Your first working day is {d}", "We would like you to start on {d}", "The post is to be filled from {d}",
                 "We count on you as a colleague from {d}",
                 "Work begins {d}", "Beginning of employment: {d}", "You take up the job on {d}")  # fmt: skip
OTHER_DAY = phrases("Open house on {d}", "Interviews take place around {d}", "The salary table dates from {d}", "Our new hall opened on {d}",
                    "Collective agreement of {d}", "Careers fair on {d}", "Our brochure was printed on {d}", "Staff party: {d}",
                    "The firm won a prize on {d}",
                    "Works council election: {d}", "Shareholders' meeting: {d}", "The company celebrates its anniversary on {d}")  # fmt: skip
PAY = phrases("between {a} and {b} a year", "a yearly salary of {a} to {b}", "from {a} up to {b} per year", "{a} - {b} annually",
              "an annual salary range of {a} to {b}", "no less than {a} and no more than {b} a year", "a gross annual wage of {a} to {b}",
              "{a} to {b} per annum", "up to {b} a year and never below {a}",
              "yearly pay from {a} to {b}", "a salary band of {a} to {b} a year", "at least {a} and at most {b} for each year")  # fmt: skip
NO_PAY = phrases("pay by agreement", "a fair salary", "pay according to the collective agreement", "a salary to be discussed",
                 "pay at the usual local rate", "remuneration to be settled in the interview", "a wage in line with the market",
                 "good money", "an attractive salary", "competitive pay", "earnings to be agreed later", "pay in keeping with the role")  # fmt: skip
OTHER_SUM = phrases("a training budget of {a}", "a relocation grant of {a}", "a yearly bonus near {a}", "a signing bonus of {a}",
                    "a pension contribution of {a}", "a lunch allowance of {a}", "holiday money of {a}", "a health budget of {a}",
                    "a work-clothes grant of {a}",
                    "a travel allowance of {a}", "a childcare subsidy of {a}", "a one-off welcome gift of {a}")  # fmt: skip
HEADCOUNT = phrases("{n} people work here", "we are {n} colleagues", "a house with {n} employees", "a workforce of {n}", "headcount: {n}",
                    "{n} employees in total", "{n} names on the payroll", "a firm of {n} people", "{n} staff members",
                    "our staff of {n}", "a crew of {n}", "{n} of us in all")  # fmt: skip
VACANCIES = phrases("{n} openings", "{n} posts to fill", "we hire {n} people", "openings: {n}", "{n} places free", "{n} positions available",
                    "{n} people wanted", "{n} jobs on offer", "we are filling {n} posts",
                    "{n} vacancies", "{n} new colleagues sought", "places to fill: {n}")  # fmt: skip
LINK = phrases("Form: {u}", "Apply at {u}", "Send the form at {u}", "Application form: {u}", "Fill in the form at {u}",
               "To apply, go to {u}", "Apply here: {u}", "Please use our application page {u}", "Online application: {u}",
               "Apply online: {u}", "Hand in your application at {u}", "The form for candidates is found at {u}")  # fmt: skip
OTHER_LINK = phrases("About us: {u}", "Our story: {u}", "Benefits are listed at {u}", "Who we are: {u}", "More about the company: {u}",
                     "Pictures of our work: {u}", "Company news: {u}", "Our values: {u}", "Read about life with us at {u}",
                     "Meet the team: {u}", "Portraits of employees: {u}", "History of the firm: {u}")  # fmt: skip
WANTED = phrases("We ask for {list}.", "You bring {list}.", "What you need: {list}.", "Must-haves: {list}.", "You must have {list}.",
                 "Essential: {list}.", "We cannot do without the following: {list}.", "Requirements: {list}.", "We insist on {list}.",
                 "Required: {list}.", "Mandatory: {list}.", "Indispensable for this post: {list}.")  # fmt: skip
NICE = phrases("{x} would be a bonus.", "Nice to have: {x}.", "{x} is welcome but no must.", "A plus, though not needed: {x}.",
               "{x} would be nice, yet we can do without it.", "Optional: {x}.", "{x} is not a condition.",
               "You need not know {x}, but it would please us.", "Helpful, not required: {x}.",
               "{x} can be learned here.", "{x} is an advantage only.", "If you happen to know {x}, all the better.")  # fmt: skip
LAYOUTS = phrases(
    "{title}\n{company}, {city}\n{dates}\n\n{body}\n\nPay: {pay}; {other_pay}.\n{wanted}\n\n{other_link}\n{link}\nQuestions: {recruiter}, {mail}",
    "{company} is looking for: {title}\nPlace: {city}\n\n{body} {wanted} We offer {pay} and {other_pay}. In figures: {count}.\n\n{dates}\nContact {recruiter} ({mail}), "
    "not the press office ({other_mail}).\n{link}",
    "Subject: Vacancy {title}\nFrom: {other_mail}\n\nDear all,\n\nour client {company} in {city} has an opening, namely {title}. {body} {wanted}\n"
    "They offer {other_pay} and {pay}. {dates_inline}.\nPlease write to {recruiter} at {mail}. {link}",
    "Press: {other_mail} | {other_link}\nJobs: {mail} ({recruiter})\n\n{count} - {company}, {city}\nWanted: {title}\n{wanted}\n{body}\n{other_pay}, {pay}\n{dates}\n{link}",
    "{dates_inline}.\n\nJoin {company}! In {city}, {count}. The role: {title}. {body}\n\n{wanted} Besides {other_pay} there is {pay}.\n\n{recruiter}\n{mail}\n{link}",
    "Role: {title}\nEmployer: {company}\nCity: {city}\nSalary: {pay}\nExtras: {other_pay}\n{dates}\n\n{body}\n{wanted}\n\n{other_link}\n{link}\nMail to: {mail} ({recruiter}); press: {other_mail}",
    "| Position | {title} |\n| Employer | {company} |\n| Location | {city} |\n| Figures | {count} |\n| Pay | {pay} |\n| Extras | {other_pay} |\n\n{body}\n{wanted}\n\n{dates}\n\n"
    "Applications to: {recruiter}, {mail}\nPress enquiries: {other_mail}\n{link}",
    "From: {recruiter} <{mail}>\nSubject: We are hiring\n\nHello,\n\non behalf of {company} in {city} I take applications for the post of {title}. {body}\n\n{wanted}\n\n"
    "The offer includes {other_pay} and {pay}. {dates_inline}.\n\n{link}\n{other_link}\n\nJournalists please write to {other_mail} instead.",
    "{company} hires\n\n- Job title: {title}\n- City: {city}\n- In numbers: {count}\n- Money: {other_pay}; {pay}\n\n{dates}\n\n{wanted}\n{body}\n\n"
    "Your contact for applications: {recruiter} ({mail})\nNot for applications: {other_mail}\n{other_link}\n{link}",
    "At {company} in {city} the position of {title} is vacant. {body} {wanted} On offer are {pay} and {other_pay}. {dates_inline}. Candidates turn to {recruiter}, "
    "whose address is {mail}, while {other_mail} is meant for the press. {link}",
    "JOB: {title} / {company} / {city}\n{dates_inline}\n{other_pay} + {pay}\n{wanted} {body}\nHR contact: {recruiter}\nHR mail: {mail}\nPress mail: {other_mail}\n{other_link}\n{link}",
    "To the job centre\n\nDear Sir or Madam,\n\nplease list this vacancy for us.\nEmployer: {company}\nPost: {title}\nLocation: {city}\n\n{body}\n\n{wanted} The post comes with {other_pay} "
    "as well as {pay}. About us: {count}.\n\n{dates}\n\nApplicants should write to {recruiter} at {mail}.\n{link}\n{other_link}\n\nYours faithfully\nthe press office ({other_mail})",
    "Vacancy at {company}\n\n{body}\n\n{other_link}\n{pay}; {other_pay}; {count}\n\nLooking for a person as {title} in {city}. {wanted}\n{link}\nTo {recruiter}, {mail} (advertising: {other_mail})\n{dates}",
    "{recruiter} <{mail}> wrote:\n\nWe at {company}, {city}, need you. {wanted} {body} Your card would say {title}, and you would get {other_pay} as well as {pay}.\n\n{dates_inline}.\n{other_link}\n{link}\ncc {other_mail}",
    "{other_link}\n{count}\n\nWe want you as our {title}!\n{dates}\n\n{wanted}\n\n{body}\n\nYour employer: {company}, {city}\nBenefits: {other_pay}; {pay}\n\n"
    "For the attention of: {recruiter}\nApplications by e-mail: {mail}\nMedia: {other_mail}\n{link}",
    "Who is hiring? {company}, based in {city}.\nFor which job? {title}.\nWhat is it like? {body}\nAnd the demands? {wanted}\nWhat do I get? There is {other_pay}, and there is {pay}.\n"
    "Who takes applications? {recruiter}, {mail} (the press has {other_mail}).\nWhich dates matter? {dates_inline}.\n{link}",
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
