"""Meeting minutes: what was decided, who takes what on, when they meet again."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, join, template
from deg_core.generator.vocabulary import phrases

BODIES = phrases("Garden Committee", "Works Council", "Steering Group", "Parents' Board", "Safety Circle", "Choir Board", "Harbour Users' Group",
                 "Editorial Board", "Allotment Society", "Rowing Club Board", "Library Friends", "Tenants' Council")  # fmt: skip
MATTERS = phrases("new roof", "second van", "summer party", "coffee machine", "solar panels", "website", "new boiler", "open day",
                  "car park", "extra trainer", "anniversary book", "new lockers", "sound system", "lift")  # fmt: skip
OUTCOMES = {
    "approved": phrases("Hands went up in favour, so it goes ahead.", "The plan found its majority and will be carried out.", "Everyone who mattered said yes, and work may begin.",
                        "The motion was carried.", "After a short talk the green light was given.", "The members gave their consent."),
    "rejected": phrases("Most spoke against it, and the plan is dead.", "The motion fell.", "It was voted down after a long debate.", "The members would have none of it.",
                        "The idea found no majority and is off the table.", "The answer was a clear no."),
    "postponed": phrases("As figures are missing, the vote will be taken another time.", "It was put off until more is known.", "The matter returns at a later meeting.",
                         "Nobody wanted to vote yet, so it stays on the list.", "The vote was moved to a coming session.", "They will come back to it when the offers are in."),
}  # fmt: skip
MOODS = {
    1: phrases("The talk was warm and full of laughter.", "Everybody pulled in one direction.", "It was a happy evening with much agreement."),
    2: phrases("The talk kept to the facts.", "The meeting ran in an orderly, sober way.", "Points were dealt with one after another, without fuss."),
    3: phrases("Voices were raised more than once.", "Two members left the room in anger.", "Insults flew across the table."),
}  # fmt: skip
MOOD_LEVELS = {1: "warm", 2: "businesslike", 3: "heated"}
HELD = {
    True: phrases("All were in one room.", "They sat around the table of the club house.", "The hall was full and smelt of coffee.", "People came in person."),
    False: phrases("Everybody joined by video link.", "They met on screen only.", "The call dropped twice.", "Nobody left home, as it was a video call."),
}  # fmt: skip
QUORUM = {
    True: phrases("Enough members were there to pass resolutions.", "The quorum was met.", "The number needed for valid votes was reached.", "Attendance sufficed for binding votes."),
    False: phrases("Too few members came to pass anything binding.", "The quorum was missed.", "Votes were not binding for want of members.", "The needed number was not reached."),
}  # fmt: skip
MET = phrases(
    "Meeting of {d}", "Held on {d}", "The session took place on {d}", "They met on {d}", "Date of the session: {d}"
)
AGAIN = phrases(
    "The next meeting is on {d}",
    "They meet again {d}",
    "Next session: {d}",
    "To be continued on {d}",
    "The group comes together again {d}",
)
NO_AGAIN = phrases(
    "A date for the next meeting will be sent",
    "When they meet again is open",
    "No new date was found",
    "The next date is left to the chair",
)
OTHER_DAY = phrases(
    "The minutes of {d} were accepted",
    "The fire drill was on {d}",
    "A letter of {d} was read out",
    "The accounts up to {d} were shown",
    "The audit of {d} was mentioned",
)
BUDGET = phrases(
    "{a} was set aside for it",
    "the group put {a} into the pot",
    "a budget of {a} was fixed",
    "{a} may be spent at most",
    "the sum fixed is {a}",
)
ASKED = phrases(
    "the first offer stood at {a}",
    "the treasurer reported {a} in the bank",
    "a cheaper way would cost {a}",
    "last year {a} was spent",
    "a donor gave {a}",
)
TASK = phrases(
    "{who} will {what} by {d}",
    "{who}: {what}, until {d}",
    "{what} - {who}, {d}",
    "By {d} {who} is to {what}",
    "{who} to {what} ({d})",
)
DEEDS = phrases("ask for two offers", "write to the town", "book the hall", "check the insurance", "draw a plan", "call the plumber", "order the chairs", "update the list",
                "print the leaflets", "speak to the bank", "measure the room", "find a speaker", "collect the keys", "paint the fence", "test the alarm", "buy the paint")  # fmt: skip
TASKS_HEAD = phrases("Tasks", "Actions:", "To be done:", "Who does what:")
PRESENT = phrases("Present: {list}.", "There were {list}.", "In attendance: {list}.", "Those who came: {list}.")
ABSENT = phrases("Excused: {x}.", "{x} could not come.", "Apologies from {x}.", "{x} sent regrets.")
LAYOUTS = phrases(
    "{body}\n{dates}\nChair: {chair}\nMinutes: {scribe}\n\n{attendance}\n\nTopic: the {matter}. {story}\nMoney: {sums}.\n\n{tasks}",
    "MINUTES\nWritten by {scribe}\n\n{body}, led by {chair}. {attendance}\n{dates_inline}.\n\nThe main point was the {matter}. {story} On the money, {sums}.\n\n{tasks}",
    "Subject: What we talked about\nFrom: {scribe}\n\nDear members of the {body},\n\n{attendance} {chair} was in the chair. We spoke about the {matter}. {story}\nAs to cost, {sums}.\n{dates_inline}.\n\n{tasks}",
    "{dates}\n\n{tasks}\n\n{body}: notes of {scribe}\n{attendance} ({chair} presiding)\nOn the {matter}: {story}\nNumbers: {sums}",
    "{story} The subject was the {matter}, and {sums}.\n\nGroup: {body}\nNote-taker: {scribe}\nPresiding: {chair}\n{attendance}\n{tasks}\n{dates}",
    "To all of the {body}\n\nOn the {matter}: {story} About the cost: {sums}.\n\n{dates_inline}. {attendance}\n\n{tasks}\n\nkept by {scribe}; meeting led by {chair}",
    "{body}, notes by {scribe}\n\n{dates_inline}.\n{attendance} In the chair: {chair}.\n\n{tasks}\n\nItem: the {matter}. {sums}. {story}",
    "{scribe} noted this for the {body}:\n\nAbout the {matter}. {story}\nFigures named: {sums}\n{tasks}\n\n{dates}\n{attendance}\nThe meeting was opened and closed by {chair}.",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a meeting."""
    outcome, mood = draw.one(tuple(OUTCOMES)), draw.one((1, 2, 3))
    in_person, quorum = draw.chance(0.5), draw.one((True, False, None))
    for key, value in (("outcome", outcome), ("mood", mood), ("in_person", in_person), ("quorum", quorum)):
        draw.know(key, value)
    body, matter = draw.wording(BODIES), draw.wording(MATTERS)
    chair, scribe = draw.person().full, draw.person().full
    draw.know(
        "summary",
        f"The {body}, chaired by {chair}, discussed the {matter}, which was {outcome}, in a {MOOD_LEVELS[mood]} meeting.",
    )
    story = [draw.phrase(MOODS[mood]), draw.phrase(HELD[in_person])]
    if quorum is not None:
        story.append(draw.phrase(QUORUM[quorum]))
    dates = _dates(draw)
    return {
        "body": draw.say("body", body),
        "matter": draw.say("matter", matter),
        "chair": draw.say("chair", chair),
        "scribe": draw.say("scribe", scribe),
        "attendance": _attendance(draw),
        "story": join(" ", draw.shuffled([draw.phrase(OUTCOMES[outcome]), *story])),
        "sums": _sums(draw, outcome),
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "tasks": _tasks(draw),
    }


def _dates(draw: Draw) -> Sequence[Part]:
    met = draw.phrase(MET, d=draw.say_day("met", draw.today))
    again = draw.maybe(
        0.6, "again", lambda: draw.phrase(AGAIN, d=draw.say_day("again", draw.day(20, 90))), draw.phrase(NO_AGAIN)
    )
    return draw.shuffled([met, again, draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-90, -8)))])


def _sums(draw: Draw, outcome: str) -> Part:
    """The money set aside, never for a plan that was rejected, beside a sum that was not."""
    budget = draw.maybe(
        {"approved": 0.9, "postponed": 0.6, "rejected": 0}[outcome],
        "budget",
        lambda: draw.phrase(BUDGET, a=draw.say_money("budget", draw.cents(300, 9000))),
    )
    return join(", ", draw.shuffled([draw.phrase(ASKED, a=draw.money(draw.cents(300, 9000))), budget]))


def _attendance(draw: Draw) -> Part:
    count = draw.one((1, 2, 2, 3))
    draw.know("present", count)
    names = join(", ", [draw.say(f"present/{i}", draw.person().full) for i in range(count)])
    return join(" ", draw.shuffled([draw.phrase(PRESENT, list=names), draw.phrase(ABSENT, x=draw.person().full)]))


def _tasks(draw: Draw) -> Part:
    count = draw.one((0, 1, 2, 2, 3))
    draw.know("tasks", count)
    if not count:
        return ""
    form, lines = draw.wording(TASK), []
    for i, deed in enumerate(draw.several(DEEDS, count)):
        who, until = draw.say(f"tasks/{i}/who", draw.person().full), draw.say_day(f"tasks/{i}/until", draw.day(5, 80))
        lines.append(template(form, who=who, d=until, what=draw.say(f"tasks/{i}/what", deed)))
    return join("\n", [draw.phrase(TASKS_HEAD), *lines])


VARIANTS = {
    "minutes": s.group(
        {
            "group": s.text("body"),
            "date": s.day("met"),
            "chair": s.text("chair"),
            "topic": s.text("matter", "The main subject."),
            "decision": s.choice("outcome", {k: k for k in OUTCOMES}),
            "in_person": s.yes_no("in_person"),
            "mood": s.scale("mood", 1, 3, levels=MOOD_LEVELS),
            "budget": s.number("budget", "Sum that the meeting set aside.", null=True),
            "next_meeting": s.day("again", null=True),
            "actions": s.items("tasks", s.group({"owner": s.text("who"), "task": s.text("what"), "due": s.day("until")})),
            "summary": s.written("summary", "One sentence: the group, its chair, the subject, the outcome and the mood."),
        }
    ),
    "follow_up": s.group(
        {
            "committee": s.text("body"),
            "officers": s.group({"presiding": s.text("chair"), "note_taker": s.text("scribe")}),
            "held_on": s.day("met", "Date of this meeting."),
            "meets_again": s.core(s.day("again", optional=True)),
            "result": s.choice(
                "outcome",
                {"approved": ("go", "The plan goes ahead."), "rejected": ("no-go", "The plan was turned down."), "postponed": ("wait", "No vote yet.")},
                "What became of the main subject.",
            ),
            "quorum": s.yes_no("quorum", "Were enough members there? Null when not stated.", null=True),
            "money": s.number("budget", optional=True),
            "to_do": s.items("tasks", s.group({"who": s.text("who"), "until": s.day("until")}), "Tasks that were given out."),
        }
    ),
    "attendance": s.group(
        {
            "subject": s.text("matter"),
            "leader": s.text("chair", "Who led the meeting."),
            "written_by": s.text("scribe"),
            "met_on": s.day("met"),
            "next_date": s.day("again", null=True),
            "format": s.choice("in_person", {True: "in person", False: "online"}),
            "atmosphere": s.choice("mood", {1: "friendly", 2: "matter-of-fact", 3: "quarrelsome"}),
            "binding_votes": s.yes_no("quorum", null=True),
            "funds": s.core(s.number("budget", "Money set aside.", null=True)),
            "attendees": s.items("present", s.text(""), "Members present, without chair and note-taker."),
            "abstract": s.written("summary", "One sentence: the group, its chair, the subject, the outcome and the mood."),
        }
    ),
}  # fmt: skip
MINUTES = Kind("minutes", LAYOUTS, compose, VARIANTS)
