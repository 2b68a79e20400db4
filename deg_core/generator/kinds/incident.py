"""Incident reports: when it happened, how bad it was, who has to do what."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import CITIES, phrases

CAUSES = {
    "equipment": phrases(
        "A worn seal gave way under pressure.", "The hoist's brake failed although it had been serviced.",
        "A corroded valve stuck half open.", "The cooling fan seized and the drive burnt out.",
        "A cable inside the cabinet had come loose and sparked.", "Cause: technical failure of the machine.",
        "The root of it was a defect in the equipment.", "A machine broke down, and that set everything off.",
        "Origin: faulty apparatus, used exactly as prescribed.", "The level sensor went dead and the tank ran over.",
        "The conveyor's clutch let go under a normal load.", "The old boiler's relief flap would not open.",
        "Technical fault: the control unit gave out.", "What let us down was the machinery itself.",
        "The press went off by itself because a spring had grown tired.", "The pump's bearing broke into pieces.",
    ),
    "human_error": phrases(
        "The operator had pressed the wrong button.", "Somebody forgot to close the guard.",
        "The trainee misread the gauge and added too much.", "A colleague had left the tap running overnight.",
        "The shift leader had skipped a step of the checklist.", "Cause: human error on our side.",
        "It was a mistake by one of our own staff.", "Origin: wrong handling by the crew.",
        "An employee did not follow the procedure, and that is why it happened.",
        "The night foreman mixed up the containers.", "Our fitter had tightened the bolts in the wrong order.",
        "The crane driver of our shift looked away for a moment and swung too far.",
        "Reason: an error made by our personnel.", "It goes back to a slip of attention in our own team.",
        "The new colleague had mistaken the acid for the rinse.", "The loader was steered into the shelf by mistake.",
    ),
    "weather": phrases(
        "Heavy rain came through the roof.", "A gust tore the cover off.",
        "Black ice had formed on the ramp overnight.", "Lightning struck the mast.", "Snow pressed the canopy down.",
        "Cause: bad weather.", "The weather was to blame.", "Origin: a storm over the area.",
        "Forces of nature brought it about, namely a long frost.", "Hail as big as eggs came down on the skylights.",
        "Meltwater ran down the hillside and into the cellar.",
        "Gales had rocked the scaffolding all night until it leaned over.", "Reason: severe weather.",
        "It was nature's doing: a cloudburst that no drain could swallow.",
        "The water in the pipes had turned to ice over the cold weekend.",
        "The river rose above the yard after the storm.",
    ),
    "third_party": phrases(
        "A passing lorry from another firm hit the gate.", "Unknown persons had cut the fence.",
        "The power company cut our line during its own digging.", "A visitor's drone fell onto the belt.",
        "Neighbours had set fire to rubbish by our wall.", "Cause: interference by third parties.",
        "People who do not belong to the company brought it about.", "Origin: something that an outside firm did.",
        "Strangers are to blame for it.", "Burglars had forced the side door during the night.",
        "A customer's driver backed his van into the pillar.",
        "Youths from the neighbourhood had thrown stones over the wall.",
        "Reason: the act of somebody from outside the company.",
        "The fault lies with an external party over whom we have no control.",
        "A courier of another business had dropped his burning cigarette on our pallets.",
        "A contractor next door drilled through the shared pipe.",
    ),
}  # fmt: skip
SEVERITY = {
    1: phrases(
        "Nothing was damaged and work went on.", "It was over in a minute without a trace.",
        "No harm came of it at all.", "Damage: none.", "Severity: no damage at all.", "There is no damage to report.",
        "Everything was found intact afterwards.", "Not so much as a scratch was left behind.",
        "We checked every corner and all of it is as good as before.",
        "Production simply carried on as though it had never happened.",
        "Luckily it went off without a loss of any kind.", "There was nothing to mend and nothing to clean.",
        "Extent of damage: nil.", "All equipment came through unharmed.",
        "A racing pulse was the only result, and the work never paused.", "It remained a fright and no more.",
    ),
    2: phrases(
        "A few parts had to be cleaned.", "The damage is small and was repaired the same day.",
        "Only the paint suffered.", "Damage: minor.", "Severity: slight damage.",
        "The harm to our property is trifling.", "There was some light damage, quickly put right.",
        "A mat was soiled and had to be thrown away.", "A dent in a side panel is all that remains.",
        "One pane got a crack and was changed before the end of the shift.",
        "We got away with scuffs and a bent handle.", "Some screws and a bit of tape put it right within the hour.",
        "Extent of damage: small.", "It cost us a lamp and a fuse, which we had in stock.",
        "The property took a light knock, soon mended.", "A cheap part was replaced and all was well.",
    ),
    3: phrases(
        "One line stood still for the rest of the shift.", "Part of the hall is closed for some days.",
        "The machine needs a repair of about a week.", "Damage: serious.",
        "Severity: heavy damage, limited to one area.",
        "The damage is considerable, though the site as a whole keeps working.",
        "It did grave harm to a part of the plant.",
        "One of the production lines will be out of action until next week.",
        "Specialists must replace the main drive before the bay can run again.",
        "A whole row of racks is bent and has to be taken down, while the others are sound.",
        "The east wing stays shut for several days of repair work.",
        "One store room needs a new floor, which will take the builders some days.",
        "Extent of damage: serious, in one part of the works.",
        "Production in the affected bay is halted for days, while the rest goes on.",
        "A large press was knocked out and a crew is rebuilding it all week.",
        "A section has to be rebuilt in the coming days.",
    ),
    4: phrases(
        "The whole plant is shut and parts of it are lost.", "The building had to be evacuated and cannot be used.",
        "The site is destroyed in large part.", "Damage: devastating.", "Severity: total loss.",
        "The destruction is immense, and all operations have ended for the foreseeable future.",
        "It was a catastrophe for the plant.", "Hardly a wall is left standing.",
        "We have lost the entire works and must start from scratch.",
        "Engineers have condemned the building and it will be pulled down.",
        "Of the machines, the stock and the offices, nothing could be saved.",
        "The premises lie in rubble and all production has been moved elsewhere.", "Extent of damage: total.",
        "What used to be our plant is now a wreck beyond repair.",
        "Every line has stopped for good, and the ruins are fenced off.",
        "Everything in the hall is ruined, and nobody may enter.",
    ),
}  # fmt: skip
LEVELS = {1: "no damage", 2: "minor", 3: "serious", 4: "devastating"}
TOLD = {
    True: phrases(
        "The labour inspectorate has been told.", "We informed the authorities at once.",
        "An officer of the town came and took notes.", "Authorities notified: yes.", "The authority has been informed.",
        "The competent public office knows about it.", "Notice was given to the regulator without delay.",
        "A copy of this went to the labour inspectors.",
        "Inspectors from the ministry have already been here to look at the scene.",
        "We rang the occupational safety authority straight away.",
        "The supervisory office has opened a file after our call.",
        "Officials have confirmed receipt of our statement.", "Notification to the authorities: made.",
        "The inspectorate heard of it from us within the hour.",
        "Officials in yellow vests have since walked through the place and asked their questions.",
        "The regulator already has our notification.",
    ),
    False: phrases(
        "No authority has been involved so far.", "We have not informed any public office.",
        "It was kept inside the company.", "Authorities notified: no.", "The authority has not been told.",
        "Our notice to the regulator is still outstanding.", "No official body has heard about it.",
        "We saw no duty to call in the inspectorate and did not.",
        "The letter to the labour inspectors still lies unsent in the office.",
        "Nobody in any government office has learned of it.",
        "Whether the inspectorate should be told is still being discussed in-house.",
        "For now the matter has gone to no ministry and no town hall.", "Notification to the authorities: not made.",
        "We have yet to call the inspectorate.", "Any official who read this would be learning it for the first time.",
        "The regulator does not know of it yet.",
    ),
}  # fmt: skip
INSURED = {
    True: phrases(
        "Our policy covers it.", "The insurer has agreed to pay.", "The loss is insured.", "Insurance cover: yes.",
        "The insurance pays.", "This case falls under our policy.", "Cover has been confirmed by the underwriter.",
        "The insurance company will reimburse us.", "Such events are included in the contract with our insurer.",
        "Our claim on the policy was accepted without further questions.",
        "According to our broker, the bill goes to the insurance.",
        "We need not bear the cost, as the insurance steps in.", "Insured: yes.",
        "The underwriters make it good for us this time.",
        "A cheque from the insurance will make up for whatever it costs.", "We get the money back under our cover.",
    ),
    False: phrases(
        "Our policy excludes such cases.", "The insurer refuses to pay.", "We carry the loss ourselves.",
        "Insurance cover: no.", "The insurance does not pay.", "This case is not insured.",
        "The underwriter has turned our claim down.", "Events of this kind fall outside our contract with the insurer.",
        "No insurance will reimburse us.",
        "Whatever it costs comes out of our own pocket, without help from the insurance.",
        "We had let that part of the policy lapse, so nothing will come back to us.",
        "The broker pointed to an exclusion in the small print and closed our claim.", "Insured: no.",
        "From the insurance company we can expect nothing.",
        "Our cover stops short of this, and the firm has to foot the bill alone.", "There is no cover for it.",
    ),
}  # fmt: skip
HAPPENED = phrases(
    "Time of event: {d}", "It happened on {d}", "Occurred {d}", "The event took place on {d}",
    "Date and time of the incident: {d}", "The mishap occurred on {d}", "When it happened: {d}",
    "Hour of the incident: {d}", "The incident itself: {d}", "Incident began {d}",
    "What is described here took place on {d}", "Moment of the accident: {d}",
)  # fmt: skip
REPORTED = phrases(
    "Report written {d}", "Reported: {d}", "Entered in the system {d}", "Filed on {d}", "Date of this report: {d}",
    "Written down on {d}", "This report was handed in on {d}", "Submitted {d}", "Reported internally on {d}",
    "Report lodged {d}", "Put on record {d}", "Form completed {d}",
)  # fmt: skip
CHECKED = phrases(
    "Last inspection: {d}", "Previous event here: {d}", "Last safety drill {d}", "Machine installed {d}",
    "Most recent inspection of the site: {d}", "Earlier incident of this sort: {d}", "Operating permit dates from {d}",
    "Fire drill held {d}", "Machine put in place on {d}", "Equipment set up {d}",
    "Staff last practised an emergency on {d}", "Permit issued {d}",
)  # fmt: skip
HURT = phrases(
    "{n} people were hurt", "{n} injured", "{n} colleagues needed treatment", "casualties: {n}",
    "number of people hurt: {n}", "{n} persons came to harm", "the ambulance took {n} hurt people away",
    "first aid was given to {n} hurt workers", "injured persons: {n}", "{n} members of staff were wounded",
    "among the crew, {n} suffered wounds or bruises", "injuries were suffered by {n}",
)  # fmt: skip
PRESENT = phrases(
    "{n} people were on shift", "{n} staff in the hall at the time", "crew of {n} present", "people on site: {n}",
    "{n} workers had clocked in", "the shift list shows {n} names", "attendance at the time: {n}",
    "headcount of the shift: {n}", "a staff of {n} was working there", "{n} were at work on the premises",
    "number of people on duty: {n}", "{n} visitors were in the building",
)  # fmt: skip
COST = phrases(
    "The damage comes to {a}.", "Repair will cost {a}.", "Estimated loss: {a}.", "We put the damage at {a}.",
    "Amount of the damage: {a}.", "Putting it right will take {a}.", "This incident costs us {a}.",
    "The bill for the repair work is {a}.", "In money, the harm done amounts to {a}.", "Loss caused by it: {a}.",
    "An expert values the damage at {a}.", "Cost of the event: {a}.",
)  # fmt: skip
OTHER_SUM = phrases(
    "The machine once cost {a}.", "The yearly premium is {a}.", "The budget for repairs this year was {a}.",
    "An earlier case came to {a}.", "The site pays {a} in rent every month.", "The safety course last spring cost {a}.",
    "A similar machine is on offer for {a}.", "Yearly energy bill of the site: {a}.", "Monthly wages at the site: {a}.",
    "The maintenance contract is worth {a} a year.", "Turnover of the site last month: {a}.",
    "A new hall would cost {a}.",
)  # fmt: skip
TASK = phrases(
    "{who} will see to it by {d}", "{who}: until {d}", "task of {who}, deadline {d}", "{d} - {who}", "{who} (due {d})",
    "by {d}: {who}", "assigned to {who}, to be finished by {d}", "{who} | {d}",
    "{who} takes this on and reports back by {d}", "responsible: {who}, no later than {d}", "{who} must be done by {d}",
    "{who} has time until {d}",
)  # fmt: skip
TASKS_HEAD = phrases(
    "Follow-up:", "Measures:", "To do:", "Actions:", "What has to be done:", "Open tasks:", "Agreed measures:",
    "Who does what by when:", "Corrective steps:", "Tasks arising:", "Still to be done:", "Next steps:",
)  # fmt: skip
SEEN = phrases(
    "Witnesses: {list}.", "It was seen by {list}.", "Present and heard: {list}.", "Eyewitnesses: {list}.",
    "Watched by {list}.", "It happened before the eyes of {list}.", "We questioned everyone who saw it: {list}.",
    "Named as witnesses: {list}.", "The following saw it happen: {list}.", "Looking on at the time: {list}.",
    "As witnesses we can name {list}.", "Statements were taken from {list}.",
)  # fmt: skip
UNSEEN = phrases(
    "Nobody saw it.", "There were no witnesses.", "No one was near.", "Witnesses: none.", "No witness came forward.",
    "Not a soul was watching.", "Nobody can say that they saw it.", "It happened out of everyone's sight.",
    "We know of no one who saw it.", "Eyewitnesses: nobody.", "No pair of eyes was on it at the time.",
    "It went unseen.",
)  # fmt: skip
LAYOUTS = phrases(
    "INCIDENT REPORT\n{times}\nSite: {site}\nReported by: {reporter}\nSafety officer: {officer}\n\n{story}\n\n{seen} {people}.\n{costs}\n\n{tasks_head}\n{tasks}\n\nFile {id}",
    "{times}\n\n{officer} received this from {reporter} at our {site} site. {story} {seen}\n\n{people}. {costs}\n{tasks_head}\n{tasks}\nCase: {id} (replaces {other_id})",
    "Subject: Incident at {site}\nTo: {officer}\n\n{story}\n\n{seen} {costs} {people}.\n\n{times}\n\n{tasks_head}\n{tasks}\n\n{reporter}\nCase {id}",
    "Template {other_id}\nRecord {id}\nLocation | {site}\nAuthor | {reporter}\n{times}\n{people}\n\n{costs} {story} {seen}\n{tasks_head}\n{tasks}\nApproved: {officer}",
    "{story} This is what {reporter} wrote from {site}. {seen}\n\n{tasks_head}\n{tasks}\n\n{people}; {times_inline}. {costs}\nRead by {officer}. Reference {id}",
    'Reference {id}\nCopied from form {other_id}\n\n{people}.\n{costs}\n\n{reporter} ({site}) to {officer}:\n"{story} {seen}"\n\n{times}\n\n{tasks_head}\n{tasks}',
    "ACCIDENT AND DAMAGE FORM {other_id}\nCase number: {id}\nTown: {site}\nReport by: {reporter}\nSafety officer in charge: {officer}\n{times}\n\nWhat happened:\n{story}\n\nWho saw it:\n{seen}\n\nPeople: {people}.\nMoney: {costs}\n\n{tasks_head}\n{tasks}",
    "From: {reporter}\nTo: {officer} (safety officer)\nSubject: Case {id}\n\nHello,\n\nthis is my report from our {site} site. {story}\n\n{seen} {people}. {costs}\n\n{times_inline}.\n\n{tasks_head}\n{tasks}\n\nBest wishes",
    "{site}\n\nFor the attention of the safety officer, {officer}\n\nPlease find below what I have to report on case {id}.\n\n{story} {seen}\n\n{people}. {costs}\n{times}\n\n{tasks_head}\n{tasks}\n\nYours faithfully\n{reporter}",
    "| Case | {id} |\n| Form | {other_id} |\n| Site | {site} |\n| Reporter | {reporter} |\n| Safety officer | {officer} |\n\n{times}\n\n{story} {seen}\n\n{costs}\n{people}.\n\n{tasks_head}\n{tasks}",
    "Incident at our {site} site\n\n- {story}\n- {seen}\n- {people}.\n- {costs}\n- {times_inline}.\n\n{tasks_head}\n{tasks}\n\nWritten by {reporter}, passed on to safety officer {officer}\nCase id: {id} (form {other_id})",
    "On behalf of the crew in {site}, {reporter} reports the following to {officer}, who is in charge of safety there: {story} {seen} {people}. {costs} {times_inline}.\n\n{tasks_head}\n{tasks}\n\nThe number of the case is {id}.",
    "{tasks_head}\n{tasks}\n\n{site} / {id}\n{people}. {costs}\n{times}\n\n{story}\n{seen}\n\nReporter: {reporter} / Safety officer: {officer} / Form: {other_id}",
    "Dear {officer},\n\nas our safety officer you should know what happened in {site}. {story} {seen}\n\n{costs} {people}.\n\n{tasks_head}\n{tasks}\n\n{times}\n\nKind regards\n{reporter}\nReference {id}",
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
