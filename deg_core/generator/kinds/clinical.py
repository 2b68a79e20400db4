"""Clinical notes: today's readings beside earlier ones, and what the doctor makes of them."""

from __future__ import annotations

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

SYSTEMS = {
    "respiratory": phrases("Coughs at night and hears a whistle when breathing out.", "Short of breath on the stairs, with green sputum.",
                           "Blocked nose and a rattle over both lungs.", "Wheezes since the birch trees flower.",
                           "A dry cough for three weeks, worse in cold air.", "Breathes fast and brings up phlegm."),
    "cardiac": phrases("Feels the pulse race and skip beats.", "The pulse pounds in the throat when walking uphill.", "Ankles swell towards evening and the heart murmurs.",
                       "An irregular beat was noticed when giving blood.", "The heart stumbles several times a day.",
                       "Palpitations and a murmur over the aortic valve."),
    "musculoskeletal": phrases("The left knee is swollen and will not bend fully.", "Cannot lift the arm above the shoulder since a fall.",
                               "The lower back is stiff in the morning.", "A twisted ankle has turned blue.",
                               "The neck hardly turns after long hours at the desk.", "The hip locks when climbing out of the car."),
    "skin": phrases("An itching red patch on both elbows.", "Small blisters have appeared along the ribs.", "A mole on the back has changed its edge.",
                    "Hives on the arms since Sunday.", "Dry scales behind the ears.", "A red rash spread over the neck."),
}  # fmt: skip
PAIN = {
    0: phrases("Says that nothing hurts.", "Is free of pain.", "Does not suffer any pain at present.", "No pain was mentioned even on pressure."),
    1: phrases("It is a slight ache that can be forgotten.", "Hardly notices the pain during the day.", "The discomfort is mild.", "It hurts a bit, no more."),
    2: phrases("The pain disturbs work but can be borne.", "It hurts enough to wake up now and then.", "The pain is of middling strength.",
               "It is sore enough to give up sport."),
    3: phrases("Screams when touched and cannot sleep at all.", "The agony is hardly bearable.", "Never felt such pain before.", "The pain is the worst imaginable."),
}  # fmt: skip
PAIN_LEVELS = {0: "none", 1: "mild", 2: "moderate", 3: "severe"}
SMOKES = {
    True: phrases("Goes through a pack of cigarettes every other day.", "Lights up after each meal.", "Still smokes a pipe.", "Has not managed to give up tobacco."),
    False: phrases("Has never touched tobacco.", "Gave up cigarettes years ago.", "Does not smoke.", "Keeps away from tobacco."),
}  # fmt: skip
BETTER = {
    "better": phrases("Feels much improved since the last visit.", "Most of it has cleared up.", "Recovery goes faster than hoped.", "Is well on the mend."),
    "same": phrases("Nothing has changed since the last visit.", "The state is just as before.", "There was neither progress nor setback.", "Things stand where they stood."),
    "worse": phrases("It has grown worse from day to day.", "The complaint has spread and deepened.", "Has lost ground since the last visit.", "Is going downhill."),
}  # fmt: skip
REFERRED = {
    True: phrases("Sent on to the hospital for further tests.", "I ask a specialist to see this.", "A letter for the clinic was handed over.", "Referred to a colleague in the city."),
    False: phrases("We can treat this here.", "No specialist is needed.", "Care stays with our practice.", "Nobody else has to be involved."),
}  # fmt: skip
VISIT = phrases("Seen on {d}", "Visit: {d}", "Consultation of {d}", "Examined {d}", "Appointment held {d}")
BORN = phrases("born {d}", "date of birth {d}", "DOB {d}", "birth date {d}")
NEXT = phrases(
    "Comes back on {d}.", "Next appointment: {d}.", "To be seen again {d}.", "Review on {d}.", "Follow-up {d}."
)
NO_NEXT = phrases(
    "Comes back only if needed.", "No further appointment.", "Will ring if it returns.", "Follow-up not planned."
)
OTHER_DAY = phrases(
    "Vaccinated {d}.",
    "Last blood test {d}.",
    "Operated on {d}.",
    "On sick leave since {d}.",
    "X-ray of {d} is on file.",
    "Moved here {d}.",
)
TEMPERATURE = phrases("temperature {n} °C", "temp. {n} °C", "fever check {n} °C", "body heat {n} °C")
WEIGHT = phrases("weight {n} kg", "weighs {n} kg", "on the scales {n} kg", "body weight {n} kg")
OLD_WEIGHT = phrases("in spring {n} kg", "target {n} kg", "before the illness {n} kg", "a year ago {n} kg")
PULSE = phrases("pulse {n}", "heart rate {n}", "HR {n} per minute", "pulse rate {n}")
OLD_TEMPERATURE = phrases(
    "yesterday at home {n} °C", "three days ago {n} °C", "peak in the night {n} °C", "on Monday {n} °C"
)
DRUGS = phrases("ibuprofen", "amoxicillin", "metoprolol", "cetirizine", "prednisolone", "ramipril", "naproxen", "doxycycline", "bisoprolol", "loratadine",
                "furosemide", "paracetamol", "azithromycin", "diclofenac", "fexofenadine", "candesartan")  # fmt: skip
DOSES = (5, 10, 20, 25, 40, 50, 75, 100, 150, 200, 250, 400, 500)
DOSE = phrases(
    "{drug} {mg} mg", "{drug}, {mg} mg daily", "{mg} mg of {drug}", "{drug} ({mg} mg)", "{drug} at {mg} mg a day"
)
PRESCRIBED = phrases(
    "Prescribed: {list}.", "Plan: {list}.", "I start {list}.", "Treatment: {list}.", "To take from now on: {list}."
)
STOPPED = phrases(
    "Stopped: {x}.", "No longer takes {x}.", "{x} was given up last year.", "Earlier tried without success: {x}."
)
ALLERGENS = phrases(
    "penicillin",
    "latex",
    "peanuts",
    "wasp stings",
    "nickel",
    "iodine",
    "eggs",
    "aspirin",
    "house dust",
    "shellfish",
    "kiwi",
    "sesame",
)
ALLERGIC = phrases("Allergic to {list}.", "Does not tolerate {list}.", "Known allergies: {list}.", "Reacts to {list}.")
NOT_ALLERGIC = phrases(
    "The sister is allergic to {x}.", "Tolerates {x} well.", "A test for {x} was negative.", "The mother reacts to {x}."
)
LAYOUTS = phrases(
    "{patient}, {born}\n{visit}\nDoctor: {doctor}\n\n{story}\n\nFindings: {findings}.\n{history}\n{allergies}\n\n{plan} {next}",
    "{visit}, at the practice of {doctor}. {history}\nPatient: {patient} ({born}), brought by {relative}.\n\n{story} {allergies}\n{findings}.\n\n{plan}\n{next}",
    "Dear {colleague},\n\nI report on {patient}, {born}. {visit}. {story}\n\nOn examination {findings}. {allergies} {history} {plan} {next}\n\nWith thanks\n{doctor}",
    "Contact: {relative}\nName: {patient}\nNote by: {doctor}\n{history}\n{visit}\n{findings}\n{allergies}\n\n{story}\n\n{plan}\n{next}\n({born})",
    "{history} {visit}.\n\n{doctor} notes on {patient} ({born}): {story}\n{allergies}\n\nReadings: {findings}.\n{next} {plan}\nCopy to {colleague}",
    "Readings\n{findings}\n\n{visit}; author {doctor}; {born}; {patient}\n{next}\n\n{story}\n{plan} {allergies} {history}\nTo be told in an emergency: {relative}",
    "{doctor}, practice notes\n{history}\n{visit}\n\n{patient} ({born}) came with {relative}. {story} {findings}. {plan} {allergies} {next}",
    "Letter to {colleague}\nFrom {doctor}\nConcerning {patient}, {born}\n\n{allergies} {plan}\n{next}\n\n{visit}. {findings}. {history}\n\n{story}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a visit."""
    system, pain, course = draw.one(tuple(SYSTEMS)), draw.one(tuple(PAIN)), draw.one(tuple(BETTER))
    smokes, referred = draw.one((True, False, None)), draw.chance(0.5)
    for key, value in (
        ("system", system),
        ("pain", pain),
        ("course", course),
        ("smokes", smokes),
        ("referred", referred),
    ):
        draw.know(key, value)
    patient, doctor, relative, colleague = (draw.person().full for _ in range(4))
    complaint = {
        "respiratory": "a breathing",
        "cardiac": "a heart",
        "musculoskeletal": "a joint or muscle",
        "skin": "a skin",
    }[system]
    draw.know("summary", f"{patient} has {complaint} complaint with {PAIN_LEVELS[pain] if pain else 'no'} pain and is "
              f"{'referred to a specialist' if referred else 'treated at the practice'}.")  # fmt: skip
    story = [draw.phrase(PAIN[pain]), draw.phrase(BETTER[course]), draw.phrase(REFERRED[referred])]
    if smokes is not None:
        story.append(draw.phrase(SMOKES[smokes]))
    born = draw.print_day(draw.day(-29000, -3000))
    return {
        "patient": draw.say("patient", patient),
        "doctor": draw.say("doctor", doctor),
        "relative": relative,
        "colleague": colleague,
        "born": draw.phrase(BORN, d=born),
        "visit": draw.phrase(VISIT, d=draw.say_day("visit", draw.today)),
        "history": draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-500, -20))) if draw.chance(0.6) else "",
        "next": draw.maybe(
            0.6, "next", lambda: draw.phrase(NEXT, d=draw.say_day("next", draw.day(7, 60))), draw.phrase(NO_NEXT)
        ),
        "story": join(" ", [draw.phrase(SYSTEMS[system]), *draw.shuffled(story)]),
        "findings": _findings(draw),
        "plan": _plan(draw),
        "allergies": _allergies(draw),
    }


def _findings(draw: Draw) -> Part:
    """Today's readings, each beside an earlier one; a reading may be missing while the earlier one is given."""
    fever, kilos = draw.rng.randrange(362, 402), draw.rng.randrange(450, 1100)
    warm = draw.maybe(0.7, "temperature", lambda: draw.phrase(TEMPERATURE, n=draw.say_tenths("temperature", fever)))
    old_warm = draw.phrase(OLD_TEMPERATURE, n=draw.print_tenths(fever + draw.one((-7, -4, 5, 8))))
    weight = draw.maybe(0.7, "weight", lambda: draw.phrase(WEIGHT, n=draw.say_tenths("weight", kilos)))
    old_weight = draw.phrase(OLD_WEIGHT, n=draw.print_tenths(kilos + draw.one((-31, -18, 22, 35))))
    pulse = draw.maybe(0.7, "pulse", lambda: draw.phrase(PULSE, n=draw.say("pulse", draw.rng.randrange(52, 131))))
    groups = [join(", ", draw.shuffled([warm, old_warm])), join(", ", draw.shuffled([weight, old_weight])), pulse]
    return capitalised(join("; ", draw.shuffled(groups)))


def _plan(draw: Draw) -> Part:
    count = draw.one((0, 1, 1, 2, 2, 3))
    draw.know("drugs", count)
    stopped = (
        capitalised(draw.phrase(STOPPED, x=f"{draw.fresh(DRUGS)} {draw.one(DOSES)} mg")) if draw.chance(0.6) else ""
    )
    if not count:
        return stopped
    form = draw.wording(DOSE)
    names = draw.several(DRUGS, count)
    doses = [
        template(form, drug=draw.say(f"drugs/{i}/name", name), mg=draw.say(f"drugs/{i}/mg", draw.one(DOSES)))
        for i, name in enumerate(names)
    ]  # fmt: skip
    return join(" ", draw.shuffled([stopped, draw.phrase(PRESCRIBED, list=join(", ", doses))]))


def _allergies(draw: Draw) -> Part:
    count = draw.one((0, 0, 1, 2))
    draw.know("allergies", count)
    other = draw.phrase(NOT_ALLERGIC, x=draw.fresh(ALLERGENS)) if draw.chance(0.6) else ""
    if not count:
        return other
    names = [draw.say(f"allergies/{i}", name) for i, name in enumerate(draw.several(ALLERGENS, count))]
    return join(" ", draw.shuffled([other, draw.phrase(ALLERGIC, list=join(", ", names))]))


VARIANTS = {
    "chart": s.group(
        {
            "patient": s.text("patient"),
            "physician": s.text("doctor"),
            "visit_date": s.day("visit"),
            "next_visit": s.day("next", null=True),
            "body_system": s.choice("system", {k: k for k in SYSTEMS}),
            "pain": s.core(s.scale("pain", 0, 3, levels=PAIN_LEVELS)),
            "temperature": s.number("temperature", "Today, in degrees Celsius.", null=True),
            "weight_kg": s.number("weight", "Weight today.", null=True),
            "smoker": s.yes_no("smokes", null=True),
            "medication": s.items("drugs", s.group({"drug": s.text("name"), "dose_mg": s.number("mg")}), "Drugs to take from now on."),
            "summary": s.written("summary", "One sentence: the patient's complaint, the pain and who treats it."),
        }
    ),
    "referral": s.group(
        {
            "person": s.text("patient", "The patient."),
            "seen_on": s.day("visit"),
            "seen_by": s.text("doctor"),
            "sent_to_specialist": s.yes_no("referred"),
            "course": s.choice(
                "course", {"better": ("improving", "Better than before."), "same": ("stable", "No change."), "worse": ("declining", "Worse than before.")}
            ),
            "complaint": s.choice("system", {"respiratory": "lungs", "cardiac": "heart", "musculoskeletal": "bones and muscles", "skin": "skin"}),
            "vitals": s.group(
                {"pulse": s.integer("pulse", null=True), "fever": s.number("temperature", "Temperature now.", null=True), "weight": s.number("weight", null=True)}
            ),
            "allergies": s.items("allergies", s.text(""), "What the patient does not tolerate."),
            "letter": s.written("summary", "One sentence: the patient's complaint, the pain and who treats it."),
        }
    ),
    "follow_up": s.group(
        {
            "name": s.text("patient"),
            "come_back_on": s.core(s.day("next", optional=True)),
            "last_seen": s.day("visit", "Date of this visit."),
            "heart_rate": s.integer("pulse", optional=True),
            "kilograms": s.number("weight", optional=True),
            "trend": s.choice("course", {k: k for k in BETTER}),
            "pain_level": s.scale("pain", 0, 3, "0 none, 1 mild, 2 moderate, 3 severe."),
            "uses_tobacco": s.yes_no("smokes", "Null when the note does not say.", null=True),
            "drugs": s.items("drugs", s.text("name"), "Names of the newly prescribed drugs."),
            "intolerances": s.items("allergies", s.text("")),
        }
    ),
}  # fmt: skip
CLINICAL = Kind("clinical", LAYOUTS, compose, VARIANTS)
