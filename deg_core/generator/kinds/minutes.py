"""Meeting minutes: what was decided, who takes what on, when they meet again."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, join, template
from deg_core.generator.vocabulary import phrases

BODIES = phrases("Garden Committee", "Works Council", "Steering Group", "Parents' Board", "Safety Circle", "Choir Board", "Harbour Users' Group",
                 "Editorial Board", "Allotment Society", "Village Hall Trust", "Cycling Forum", "Museum Trustees", "Playground Committee",
                 "Film Circle", "Orchard Society", "Theatre Guild", "Chess Club Committee", "Market Traders' Union", "School Council",
                 "Heritage Panel", "Youth Assembly", "Beekeepers' Association", "Staff Forum", "Swimming Club Board", "Bell Ringers' Guild",
                 "River Watch", "Energy Panel", "Street Fair Committee", "Sailing Club Council", "Canteen Circle",
                 "Rowing Club Board", "Library Friends", "Tenants' Council", "Quilting Circle", "Fire Brigade Friends",
                 "Bowling Club Committee", "Residents' Forum", "Orchestra Board", "Footpath Trust", "Kindergarten Panel")  # fmt: skip
MATTERS = phrases("new roof", "second van", "summer party", "coffee machine", "solar panels", "website", "new boiler", "open day",
                  "car park", "extra trainer", "anniversary book", "bicycle shed", "new curtains", "charity run", "loft insulation",
                  "kitchen refit", "winter concert", "rain barrels", "guest room", "fruit stall", "piano tuning", "first-aid course",
                  "window repair", "storage cellar", "river trip", "defibrillator", "garden gate", "photo exhibition", "spring fair", "floodlights",
                  "new lockers", "sound system", "lift", "wheelchair ramp", "quiz night", "compost heap", "new flooring", "outdoor stage",
                  "water pump", "wind turbine")  # fmt: skip
OUTCOMES = {
    "approved": phrases("Hands went up in favour, so it goes ahead.", "The plan found its majority and will be carried out.", "Everyone who mattered said yes, and work may begin.",
                        "The motion was carried.", "After a short talk the green light was given.", "Decision: approved.", "Result of the vote: adopted.",
                        "The proposal was accepted.", "The group decided to do it.", "Most were for it, so it will now be done.",
                        "After the count nothing stands in its way any more.", "Those in favour outnumbered the others by far, and preparations can start.",
                        "The members gave their consent.", "Resolution: passed.", "It was agreed to put the plan into practice.",
                        "The doubters were outvoted, and the first steps can be taken."),
    "rejected": phrases("Most spoke against it, and the plan is dead.", "The motion fell.", "It was voted down after a long debate.", "The members would have none of it.",
                        "The idea found no majority and is off the table.", "Decision: rejected.", "Result of the vote: against.",
                        "The proposal was turned down.", "The group will not do it.", "As the noes were in the majority, nothing will come of it.",
                        "Only a handful were in favour, so the file was closed for good.", "Whoever had hoped for it will have to live without it.",
                        "The answer was a clear no.", "Resolution: refused.", "They decided against the plan.",
                        "Its friends were outvoted and had to bury their hopes."),
    "postponed": phrases("As figures are missing, the vote will be taken another time.", "It was put off until more is known.", "The matter returns at a later meeting.",
                         "Nobody wanted to vote yet, so it stays on the list.", "The vote was moved to a coming session.", "Decision: postponed.",
                         "Result: no vote yet.", "The item was adjourned.", "The group will decide at some other time.",
                         "Neither yes nor no was said, since the facts were not all there.", "More has to be found out first, so the question stays open.",
                         "They agreed to sleep on it.",
                         "They will come back to it when the offers are in.", "Resolution: deferred.", "A decision was left for later.",
                         "The papers went back into the folder until a better moment."),
}  # fmt: skip
MOODS = {
    1: phrases("The talk was warm and full of laughter.", "Everybody pulled in one direction.", "Mood: friendly.", "Atmosphere: warm.",
               "The meeting was cordial from start to finish.", "People were kind to one another throughout.", "Jokes were told between the items.",
               "It felt like an evening among old friends.", "There was a good deal of smiling and praise.",
               "Nobody had a cross word for anyone, and many had a kind one.", "Members thanked each other warmly for the past months.",
               "They enjoyed each other's company so much that it was hard to stop.",
               "It was a happy evening with much agreement.", "Tone of the meeting: good-humoured.", "The conversation was amiable and light-hearted.",
               "They teased one another fondly and laughed at themselves."),
    2: phrases("The talk kept to the facts.", "The meeting ran in an orderly, sober way.", "Mood: matter-of-fact.", "Atmosphere: businesslike.",
               "The tone was neutral throughout.", "The agenda was worked through briskly and calmly.",
               "Arguments were exchanged soberly, with neither jokes nor quarrels.", "Nobody laughed and nobody shouted; they simply went through the list.",
               "It was a dry and efficient meeting.", "Speakers stuck to the point and to their time.", "Feelings, good or bad, played no part.",
               "One report followed the next, and questions were answered briefly.",
               "Points were dealt with one after another, without fuss.", "Tone of the meeting: objective.", "The discussion was factual and unemotional.",
               "It might have been the reading of a timetable, so plain was the talk."),
    3: phrases("Voices were raised more than once.", "Two members left early in anger.", "Mood: heated.", "Atmosphere: quarrelsome.",
               "There was a fierce row.", "The members quarrelled from the first minute.", "Tempers flared, and there were calls for order.",
               "People shouted each other down.", "Old grudges broke out again and spoilt the talk.", "Accusations went back and forth.",
               "Several speakers were cut off in mid-sentence by angry colleagues.", "More than one of them said things that call for an apology.",
               "Insults flew from all sides.", "Tone of the meeting: bitter.", "The discussion was stormy and hostile.",
               "Some who began as friends were no longer on speaking terms at the end."),
}  # fmt: skip
MOOD_LEVELS = {1: "warm", 2: "businesslike", 3: "heated"}
HELD = {
    True: phrases("All were in one room.", "They sat around the table of the club house.", "The hall smelt of coffee and floor polish.",
                  "Form of the meeting: in person.", "The meeting was held face to face.", "They gathered on the spot, not online.",
                  "Place of the session: the back room of the inn.", "The members met in the flesh.", "Everybody had travelled to the same place.",
                  "Wet coats hung by the door, and seats were drawn up in a circle.", "Biscuits were passed from hand to hand.",
                  "The room had to be aired halfway through.",
                  "People came in person.", "Type of session: physical, not virtual.", "No one took part online; they sat side by side.",
                  "Afterwards the seats had to be stacked and the floor swept."),
    False: phrases("Everybody joined by video link.", "They met on screen only.", "The call dropped twice.", "Form of the meeting: online.",
                   "The meeting took place on the internet.", "It was a remote session by video.", "They gathered virtually, each at their own computer.",
                   "Everyone dialled in from where they were.", "No room was needed, since they talked by webcam.",
                   "Some microphones had to be muted, and one camera stayed black.", "The link had been sent round beforehand, and each clicked on it at home.",
                   "A cat walked across one of the keyboards during the call.",
                   "Nobody left home, as it was a video call.", "Type of session: virtual.", "The members took part through their screens.",
                   "Again and again somebody had to be told to switch on the microphone of their laptop."),
}  # fmt: skip
QUORUM = {
    True: phrases("Enough members were there to pass resolutions.", "The quorum was met.", "The number needed for valid votes was reached.",
                  "Quorum: yes.", "Quorum: reached.", "The group was quorate.", "The meeting was able to pass valid resolutions.",
                  "More members took part than the rules demand.", "A count showed that there were enough members for a vote that holds.",
                  "As more than the required share attended, votes were valid.", "By the statutes the turnout was high enough to decide.",
                  "Nobody can say later that there were too few members for a vote.",
                  "Attendance sufficed for binding votes.", "Quorum present: yes.", "The required number took part, so votes counted.",
                  "The turnout left no doubt that a vote would bind the rest as well."),
    False: phrases("Too few members came to pass anything binding.", "The quorum was missed.", "Votes were not binding for want of members.",
                   "Quorum: no.", "Quorum: not reached.", "The group was not quorate.", "The meeting was too small for valid resolutions.",
                   "Fewer members took part than the rules demand.", "A count showed that too many members were missing for a vote that holds.",
                   "As the turnout was too low, no vote would bind the rest.", "By the statutes so small a circle can give no more than its opinion.",
                   "Half a dozen more would have been needed for valid votes.",
                   "The needed number was not reached.", "Quorum present: no.", "Not enough members took part for votes to count.",
                   "For a vote that binds, more members would have had to turn up."),
}  # fmt: skip
MET = phrases("Meeting of {d}", "Held on {d}", "The session took place on {d}", "They met on {d}", "Meeting date: {d}", "This meeting was on {d}",
              "We met on {d}", "The group gathered on {d}", "Day of the meeting: {d}",
              "Date of the session: {d}", "The members came together on {d}", "This session was held {d}")  # fmt: skip
AGAIN = phrases("The next meeting is on {d}", "They meet again {d}", "Next session: {d}", "To be continued on {d}", "Next meeting: {d}",
                "Following session on {d}", "The date of the next meeting is {d}", "We shall see each other again on {d}", "The group reconvenes on {d}",
                "The group comes together again {d}", "The next gathering falls on {d}", "A further meeting has been called for {d}")  # fmt: skip
NO_AGAIN = phrases("A date for the next meeting will be sent", "When they meet again is open", "No new date was found",
                   "Next meeting: to be announced", "The date of the next meeting is not yet fixed", "No further meeting has been called so far",
                   "An invitation to the next session will follow", "Next session: date open", "We could not settle on a day for the next meeting",
                   "The next date is left to the chair", "The next gathering has no date as yet", "Date of the following session: unknown")  # fmt: skip
OTHER_DAY = phrases("The minutes of {d} were accepted", "The fire drill was on {d}", "A letter of {d} was read out",
                    "The accounts up to {d} were shown", "The insurance was renewed on {d}", "The last newsletter is dated {d}",
                    "The old contract ran out on {d}", "A request of {d} was mentioned", "Membership figures of {d} were shown",
                    "The audit of {d} was mentioned", "Photographs from {d} were shown", "The previous newsletter went out on {d}")  # fmt: skip
BUDGET = phrases("{a} was set aside for it", "the group put {a} into the pot", "a budget of {a} was fixed", "{a} may be spent at most",
                 "funds of {a} were released", "{a} was earmarked", "the spending limit was set at {a}", "the group made {a} available",
                 "{a} was allotted to the plan",
                 "the sum fixed is {a}", "{a} was reserved for the purpose", "the budget for the plan is {a}")  # fmt: skip
ASKED = phrases("the first offer stood at {a}", "the treasurer reported {a} in the bank", "a cheaper way would cost {a}", "last year {a} was spent",
                "a neighbouring club once paid {a}", "the membership fees brought in {a}", "repairs to date have cost {a}",
                "the dearest quotation came to {a}", "an unpaid bill of {a} was mentioned",
                "a donor gave {a}", "the raffle earned {a}", "the insurance costs {a} a year")  # fmt: skip
TASK = phrases("{who} will {what} by {d}", "{who}: {what}, until {d}", "{what} - {who}, {d}", "By {d} {who} is to {what}",
               "{what}: {who} (due {d})", "{who} has until {d} to {what}", "{who} agreed to {what} no later than {d}",
               "- owner: {who}; task: {what}; due: {d}", "| {who} | {what} | {d} |",
               "{who} to {what} ({d})", "{d}: {who} is to {what}", "Task: {what}; responsible: {who}; deadline: {d}")  # fmt: skip
DEEDS = phrases("ask for two offers", "write to the town", "book the hall", "check the insurance", "draw a plan", "call the plumber", "order the chairs", "update the list",
                "print the leaflets", "speak to the bank", "measure the room", "find a speaker", "water the hedge", "repair the gate", "invite the mayor",
                "renew the licence", "count the tickets", "clean the gutters", "borrow a ladder", "compare prices", "send out the invitations",
                "scan the receipts", "sort the archive", "bake a cake", "pick up the posters", "hire a tent", "sweep the yard", "take photographs",
                "file the tax form", "look for sponsors",
                "collect the keys", "paint the fence", "test the alarm", "buy the paint", "reserve a coach", "oil the hinges", "tidy the cellar",
                "design a flyer", "thank the donors", "replace the bulbs")  # fmt: skip
TASKS_HEAD = phrases("Tasks", "Actions:", "To be done:", "Action points", "To do", "Jobs given out:", "Assignments:", "Open tasks:", "Follow-up:",
                     "Who does what:", "Duties handed out:", "Agreed actions")  # fmt: skip
PRESENT = phrases("Present: {list}.", "There were {list}.", "In attendance: {list}.", "Members present: {list}.", "Attending: {list}.",
                  "Participants: {list}.", "Also taking part: {list}.", "Members who took part: {list}.", "Attendance list: {list}.",
                  "Those who came: {list}.", "Attendees: {list}.", "The following attended: {list}.")  # fmt: skip
ABSENT = phrases("Excused: {x}.", "{x} could not come.", "Apologies from {x}.", "Absent: {x}.", "Missing: {x}.", "{x} was unable to attend.",
                 "Did not attend: {x}.", "{x} had to cancel.", "We missed {x}, who was ill.",
                 "{x} sent regrets.", "Absent with apologies: {x}.", "{x} had asked to be excused.")  # fmt: skip
LAYOUTS = phrases(
    "{body}\n{dates}\nChair: {chair}\nMinutes: {scribe}\n\n{attendance}\n\nTopic: the {matter}. {story}\nMoney: {sums}.\n\n{tasks}",
    "MINUTES\nWritten by {scribe}\n\n{body}, led by {chair}. {attendance}\n{dates_inline}.\n\nThe main point was the {matter}. {story} On the money, {sums}.\n\n{tasks}",
    "Subject: What we talked about\nFrom: {scribe}\n\nDear members of the {body},\n\n{attendance} {chair} was in the chair. We spoke about the {matter}. {story}\nAs to cost, {sums}.\n{dates_inline}.\n\n{tasks}",
    "{dates}\n\n{tasks}\n\n{body}: notes of {scribe}\n{attendance} ({chair} presiding)\nOn the {matter}: {story}\nNumbers: {sums}",
    "{story} The subject was the {matter}, and {sums}.\n\nGroup: {body}\nNote-taker: {scribe}\nPresiding: {chair}\n{attendance}\n{tasks}\n{dates}",
    "To all of the {body}\n\nOn the {matter}: {story} About the cost: {sums}.\n\n{dates_inline}. {attendance}\n\n{tasks}\n\nkept by {scribe}; meeting led by {chair}",
    "| Group | {body} |\n| Chair | {chair} |\n| Minutes taken by | {scribe} |\n| Subject | the {matter} |\n| Sums | {sums} |\n\n{dates}\n\n{attendance}\n{story}\n\n{tasks}",
    "From: {chair}\nSubject: {body}\n\nDear all,\n\nI led our meeting, and {scribe} took these notes. {attendance}\n\nOur subject was the {matter}. {story} On the cost: {sums}.\n\n{dates_inline}.\n\n{tasks}",
    "{body} - short record\n\n- Presiding: {chair}\n- Note-taker: {scribe}\n- Main item: the {matter}\n- Sums named: {sums}\n\n{story}\n\n{tasks}\n\n{attendance}\n{dates}",
    "The {body} was in session under the leadership of {chair}; {scribe} took the notes. {dates_inline}. {attendance} The talk was above all about the {matter}. {story} With regard to money, {sums}.\n\n{tasks}",
    "{dates_inline}\n\nRe: {matter}\n{story}\nCost: {sums}\n\n{tasks}\n\n{attendance}\n{body}\nchaired by {chair}, minutes by {scribe}",
    "{scribe}\nKeeper of the minutes, {body}\n\nDear members,\n\nhere is what you should know about the {matter}. {story} As far as money goes, {sums}.\n\n{attendance} The meeting was chaired by {chair}. {dates_inline}.\n\n{tasks}",
    "{body}, notes by {scribe}\n\n{dates_inline}.\n{attendance} In the chair: {chair}.\n\n{tasks}\n\nItem: the {matter}. {sums}. {story}",
    "{scribe} noted this for the {body}:\n\nAbout the {matter}. {story}\nFigures named: {sums}\n{tasks}\n\n{dates}\n{attendance}\nThe meeting was opened and closed by {chair}.",
    "RECORD OF PROCEEDINGS\nBody: {body}\nMatter: the {matter}\n\nA. People\nChairperson: {chair}\nRecord kept by: {scribe}\n{attendance}\n\nB. Course\n{story}\n\nC. Money\n{sums}\n\nD. Dates\n{dates}\n\n{tasks}",
    "For the attention of everyone in the {body}\n\n{tasks}\n\n{attendance} The discussion was guided by {chair}, while {scribe} wrote it down.\n\nIt was all about the {matter}; {sums}. {story}\n\n{dates}",
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
