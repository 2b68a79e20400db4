"""Incident reports: when it happened, how bad it was, who has to do what."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import CITIES, phrases

CAUSES = {
    "equipment": phrases("A worn seal gave way under pressure.", "The hoist's brake failed although it had been serviced.",
                         "A corroded valve stuck half open.", "The cooling fan seized and the drive burnt out.",
                         "A cable inside the cabinet had come loose and sparked.", "The pump's bearing broke into pieces."),
    "human_error": phrases("The operator had pressed the wrong button.", "Somebody forgot to close the guard.",
                           "The trainee misread the gauge and added too much.", "A colleague had left the tap running overnight.",
                           "The shift leader had skipped a step of the checklist.", "The loader was steered into the shelf by mistake."),
    "weather": phrases("Heavy rain came through the roof.", "A gust tore the cover off.", "Black ice had formed on the ramp overnight.",
                       "Lightning struck the mast.", "Snow pressed the canopy down.", "The river rose above the yard after the storm."),
    "third_party": phrases("A passing lorry from another firm hit the gate.", "Unknown persons had cut the fence.",
                           "The power company cut our line during its own digging.", "A visitor's drone fell onto the belt.",
                           "Neighbours had set fire to rubbish by our wall.", "A contractor next door drilled through the shared pipe."),
}  # fmt: skip
SEVERITY = {
    1: phrases("Nothing was damaged and work went on.", "It was over in a minute without a trace.", "No harm came of it at all.",
               "It remained a fright and no more."),
    2: phrases("A few parts had to be cleaned.", "The damage is small and was repaired the same day.", "Only the paint suffered.",
               "A cheap part was replaced and all was well."),
    3: phrases("One line stood still for the rest of the shift.", "Part of the hall is closed for some days.",
               "The machine needs a repair of about a week.", "A section has to be rebuilt in the coming days."),
    4: phrases("The whole plant is shut and parts of it are lost.", "The building had to be evacuated and cannot be used.",
               "The site is destroyed in large part.", "Everything in the hall is ruined, and nobody may enter."),
}  # fmt: skip
LEVELS = {1: "no damage", 2: "minor", 3: "serious", 4: "devastating"}
TOLD = {
    True: phrases("The labour inspectorate has been told.", "We informed the authorities at once.", "An officer of the town came and took notes.",
                  "The regulator already has our notification."),
    False: phrases("No authority has been involved so far.", "We have not informed any public office.", "It was kept inside the company.",
                   "The regulator does not know of it yet."),
}  # fmt: skip
INSURED = {
    True: phrases("Our policy covers it.", "The insurer has agreed to pay.", "The loss is insured.", "We get the money back under our cover."),
    False: phrases("Our policy excludes such cases.", "The insurer refuses to pay.", "We carry the loss ourselves.", "There is no cover for it."),
}  # fmt: skip
HAPPENED = phrases(
    "Time of event: {d}",
    "It happened on {d}",
    "Occurred {d}",
    "The event took place on {d}",
    "Moment of the accident: {d}",
)
REPORTED = phrases(
    "Report written {d}", "Reported: {d}", "Entered in the system {d}", "Filed on {d}", "Form completed {d}"
)
CHECKED = phrases(
    "Last inspection: {d}",
    "Previous event here: {d}",
    "Last safety drill {d}",
    "Machine installed {d}",
    "Permit issued {d}",
)
HURT = phrases(
    "{n} people were hurt",
    "{n} injured",
    "{n} colleagues needed treatment",
    "casualties: {n}",
    "injuries were suffered by {n}",
)
PRESENT = phrases(
    "{n} people were on shift",
    "{n} staff in the hall at the time",
    "crew of {n} present",
    "{n} visitors were in the building",
)
COST = phrases(
    "The damage comes to {a}.",
    "Repair will cost {a}.",
    "Estimated loss: {a}.",
    "We put the damage at {a}.",
    "Cost of the event: {a}.",
)
OTHER_SUM = phrases("The machine once cost {a}.", "The yearly premium is {a}.", "The budget for repairs this year was {a}.",
                    "An earlier case came to {a}.", "A new hall would cost {a}.")  # fmt: skip
TASK = phrases(
    "{who} will see to it by {d}",
    "{who}: until {d}",
    "task of {who}, deadline {d}",
    "{d} - {who}",
    "{who} has time until {d}",
)
TASKS_HEAD = phrases("Follow-up:", "Measures:", "To do:", "Next steps:")
SEEN = phrases(
    "Witnesses: {list}.", "It was seen by {list}.", "Present and heard: {list}.", "Statements were taken from {list}."
)
UNSEEN = phrases("Nobody saw it.", "There were no witnesses.", "No one was near.", "It went unseen.")
LAYOUTS = phrases(
    "INCIDENT REPORT\n{times}\nSite: {site}\nReported by: {reporter}\nSafety officer: {officer}\n\n{story}\n\n{seen} {people}.\n{costs}\n\n{tasks_head}\n{tasks}\n\nFile {id}",
    "{times}\n\n{officer} received this from {reporter} at our {site} site. {story} {seen}\n\n{people}. {costs}\n{tasks_head}\n{tasks}\nCase: {id} (replaces {other_id})",
    "Subject: Incident at {site}\nTo: {officer}\n\n{story}\n\n{seen} {costs} {people}.\n\n{times}\n\n{tasks_head}\n{tasks}\n\n{reporter}\nCase {id}",
    "Template {other_id}\nRecord {id}\nLocation | {site}\nAuthor | {reporter}\n{times}\n{people}\n\n{costs} {story} {seen}\n{tasks_head}\n{tasks}\nApproved: {officer}",
    "{story} This is what {reporter} wrote from {site}. {seen}\n\n{tasks_head}\n{tasks}\n\n{people}; {times_inline}. {costs}\nRead by {officer}. Reference {id}",
    'Reference {id}\nCopied from form {other_id}\n\n{people}.\n{costs}\n\n{reporter} ({site}) to {officer}:\n"{story} {seen}"\n\n{times}\n\n{tasks_head}\n{tasks}',
    "Case {id}, {site}\n\n{people}. {costs}\n{times}\n\nAuthor: {reporter}\nChecked: {officer}\n\n{tasks_head}\n{tasks}\n\n{story}\n{seen}",
    "{officer} forwards the report of {reporter}.\n\n{tasks_head}\n{tasks}\n\nPlace: {site}\nCase: {id}\nForm: {other_id}\n{times}\n\n{story} {costs} {people}. {seen}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw an incident with its report."""
    cause, severity = draw.one(tuple(CAUSES)), draw.one(tuple(SEVERITY))
    told, insured = draw.chance(0.5), draw.one((True, False, None))
    for key, value in (
        ("cause", cause),
        ("severity", severity),
        ("told", told),
        ("insured", insured),
        ("grave", severity >= 3),
    ):
        draw.know(key, value)
    site, reporter, officer = draw.fresh(CITIES), draw.person(), draw.person()
    reason = {
        "equipment": "failed equipment",
        "human_error": "a human error",
        "weather": "the weather",
        "third_party": "outsiders",
    }[cause]
    outcome = {1: "without damage", 2: "with minor damage", 3: "with serious damage", 4: "with devastating damage"}[
        severity
    ]
    draw.know(
        "summary", f"An incident in {site}, reported by {reporter.full}, was caused by {reason} and ended {outcome}."
    )
    story = [draw.phrase(CAUSES[cause]), draw.phrase(SEVERITY[severity]), draw.phrase(TOLD[told])]
    if insured is not None:
        story.append(draw.phrase(INSURED[insured]))
    times = _times(draw)
    return {
        "id": draw.say("id", draw.uuid()),
        "other_id": draw.several_codes("SF-", 1)[0],
        "site": draw.say("site", site),
        "reporter": draw.say("reporter", reporter.full),
        "officer": draw.say("officer", officer.full),
        "story": join(" ", story[:1] + draw.shuffled(story[1:])),
        "times": join("\n", times),
        "times_inline": join("; ", times),
        "people": _people(draw, severity),
        "costs": _costs(draw, severity),
        "seen": _witnesses(draw),
        "tasks_head": draw.phrase(TASKS_HEAD),
        "tasks": _tasks(draw),
    }


def _times(draw: Draw) -> Sequence[Part]:
    happened = draw.phrase(HAPPENED, d=draw.say_moment("happened", draw.moment(draw.today)))
    reported = draw.phrase(REPORTED, d=draw.say_moment("reported", draw.moment(draw.day(1, 4))))
    checked = draw.phrase(CHECKED, d=draw.say_day("checked", draw.day(-300, -20)))
    return draw.shuffled([happened, reported, checked])


def _people(draw: Draw, severity: int) -> Part:
    """Those present and those hurt; nobody is hurt where nothing came of it."""
    present = draw.phrase(PRESENT, n=str(draw.rng.randrange(12, 60)))
    hurt = draw.maybe(
        0.75 if severity > 1 else 0, "hurt", lambda: draw.phrase(HURT, n=draw.say("hurt", draw.rng.randrange(2, 12)))
    )
    return capitalised(join("; ", draw.shuffled([present, hurt])))


def _costs(draw: Draw, severity: int) -> Part:
    """The damage in money, where there is any, beside an amount that is none."""
    other = draw.phrase(OTHER_SUM, a=draw.money(draw.cents(800, 60000)))
    cost = draw.maybe(
        0.8 if severity > 1 else 0, "cost", lambda: draw.phrase(COST, a=draw.say_money("cost", draw.cents(200, 40000)))
    )
    return join(" ", draw.shuffled([other, cost]))


def _witnesses(draw: Draw) -> Part:
    count = draw.one((0, 1, 2, 2, 3))
    draw.know("witnesses", count)
    if not count:
        return draw.phrase(UNSEEN)
    return draw.phrase(SEEN, list=join(", ", [draw.say(f"witnesses/{i}", draw.person().full) for i in range(count)]))


def _tasks(draw: Draw) -> Part:
    count = draw.one((1, 2, 2, 3))
    draw.know("tasks", count)
    form = draw.wording(TASK)
    return join("\n", [
        template(form, who=draw.say(f"tasks/{i}/who", draw.person().full), d=draw.say_day(f"tasks/{i}/until", draw.day(8 + 20 * i, 26 + 20 * i)))
        for i in range(count)
    ])  # fmt: skip


VARIANTS = {
    "safety": s.group(
        {
            "report_id": s.text("id", "Id of this report.", format="uuid"),
            "occurred_at": s.moment("happened", "When the incident happened."),
            "site": s.text("site"),
            "reporter": s.text("reporter"),
            "cause": s.choice("cause", {k: k for k in CAUSES}),
            "severity": s.core(s.scale("severity", 1, 4, levels=LEVELS)),
            "injured": s.integer("hurt", "Number of people hurt.", null=True),
            "cost": s.number("cost", "Damage in money.", null=True),
            "authority_informed": s.yes_no("told"),
            "witnesses": s.items("witnesses", s.text("")),
            "summary": s.written("summary", "One sentence: where, reported by whom, cause and damage."),
        }
    ),
    "insurer": s.group(
        {
            "event_time": s.moment("happened"),
            "filed_at": s.moment("reported"),
            "place": s.text("site", "Town of the site."),
            "loss": s.core(s.number("cost", optional=True)),
            "origin": s.choice(
                "cause",
                {
                    "equipment": ("machine", "Something broke or failed."),
                    "human_error": ("staff", "Somebody of the company made a mistake."),
                    "weather": ("nature", "Storm, frost, water or lightning."),
                    "third_party": ("outsider", "Somebody from outside did it."),
                },
            ),
            "covered": s.yes_no("insured", "Does the insurance pay? Null when not stated.", null=True),
            "serious": s.yes_no("grave", "Is the damage more than minor?"),
            "last_inspected": s.core(s.day("checked", "Date of the earlier inspection, drill, permit, installation or event.")),
            "measures": s.items("tasks", s.group({"responsible": s.text("who"), "deadline": s.day("until")}), most=5),
        }
    ),
    "audit": s.group(
        {
            "case": s.text("id", format="uuid"),
            "people": s.group({"author": s.text("reporter"), "safety_officer": s.text("officer")}),
            "reported_at": s.moment("reported"),
            "damage_level": s.choice("severity", {1: "none", 2: "slight", 3: "heavy", 4: "total"}),
            "regulator": s.choice("told", {True: "notified", False: "not notified"}),
            "cause_type": s.choice("cause", {"equipment": "technical", "human_error": "human", "weather": "weather", "third_party": "external"}),
            "casualties": s.integer("hurt", optional=True),
            "actions": s.items("tasks", s.group({"owner": s.text("who"), "due": s.day("until")}), "Follow-up tasks."),
            "abstract": s.written("summary", "One sentence: where, reported by whom, cause and damage."),
        }
    ),
}  # fmt: skip
INCIDENT = Kind("incident", LAYOUTS, compose, VARIANTS)
