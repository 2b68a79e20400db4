"""Clinical notes: today's readings beside earlier ones, and what the doctor makes of them."""

from __future__ import annotations

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

SYSTEMS = {
    "respiratory": phrases(
        "Coughs at night and hears a whistle when breathing out.", "Short of breath on the stairs, with green sputum.",
        "Blocked nose and a rattle over both lungs.", "Wheezes since the birch trees flower.",
        "A dry cough for three weeks, worse in cold air.", "System concerned: the airways.",
        "Reason for the visit: a stubborn cough.", "It is a matter of the bronchi.",
        "Presents with a chest infection and a chesty cough.", "The chest is full of mucus and every breath rasps.",
        "Gasps for air while the ribs whistle like a kettle.",
        "The nose streams, the voice is hoarse and the cough barks.", "Breathes fast and brings up phlegm.",
        "The lungs are what brought the patient here.", "Sneezes all day and hardly gets air through the nose.",
        "Asthma is suspected, since the breath whistles after running.",
    ),
    "cardiac": phrases(
        "Feels the pulse race and skip beats.", "The pulse pounds in the throat when walking uphill.",
        "Ankles swell towards evening and the heart murmurs.", "An irregular beat was noticed when giving blood.",
        "The heart stumbles several times a day.", "System concerned: heart and circulation.",
        "Reason for the visit: palpitations.", "Here on account of the heart.", "The tracing shows extra beats.",
        "Lies awake listening to the heart hammer.", "A leaking valve is suspected from the sound of the heart.",
        "Nearly fainted while the heart fluttered.", "Palpitations and a murmur over the aortic valve.",
        "The complaint is a cardiac one.", "Now and then the heart seems to miss a turn and then gallops.",
        "The atria beat out of step with the rest on the monitor.",
    ),
    "musculoskeletal": phrases(
        "The left knee is swollen and will not bend fully.", "Cannot lift the arm above the shoulder since a fall.",
        "The lower back is stiff in the morning.", "A twisted ankle has turned blue.",
        "The neck hardly turns after long hours at the desk.", "System concerned: muscles and joints.",
        "Reason for the visit: a strained calf muscle.", "The complaint lies in the bones.",
        "Limps since tripping over a kerb.", "The wrist cracks and gives way when a jar is opened.",
        "Finger joints are thick and will not close to a fist.", "Walks bent forward after lifting a crate.",
        "The hip locks when climbing out of the car.", "An orthopaedic matter.",
        "The tendon at the heel is thick and tight.", "Slipped on ice, and kneeling is impossible.",
    ),
    "skin": phrases(
        "An itching red patch on both elbows.", "Small blisters have appeared along the ribs.",
        "A mole on the back has changed its edge.", "Hives on the arms since Sunday.", "Dry scales behind the ears.",
        "System concerned: the skin.", "Reason for the visit: eczema.", "Something is wrong with the skin.",
        "Wheals come up wherever the sleeve rubs.", "The palms are cracked and peeling.",
        "Pimples and crusts cover the chin.", "A ring with a flaky edge has come up on the thigh.",
        "A red rash spread over the neck.", "The complaint is a dermatological one.", "Warts sit between the toes.",
        "The scalp flakes and the forearms are dotted with spots.",
    ),
}  # fmt: skip
PAIN = {
    0: phrases(
        "Says that nothing hurts.", "Is free of pain.", "Does not suffer any pain at present.", "Pain: none.",
        "There is no pain.", "Pain is denied.", "Nothing aches, nothing stings.",
        "All of it is painless, by the patient's own account.", "Asked where it hurts, the answer was: nowhere.",
        "Let us press and tap everywhere without flinching.", "Shook the head when asked about pain.",
        "Would not know what to take a painkiller for.", "No pain was mentioned even on pressure.", "Pain-free.",
        "Neither rest nor movement is painful.", "Did not wince once while being examined and felt no soreness.",
    ),
    1: phrases(
        "It is a slight ache that can be forgotten.", "Hardly notices the pain during the day.",
        "The discomfort is mild.", "Pain: mild.", "The pain is slight.", "Only a little sore.", "Reports minor pain.",
        "A faint twinge now and again, soon gone.", "There is some tenderness, but it is no bother.",
        "Calls the pain barely worth a mention.", "Feels a gentle smarting that does not get in the way of anything.",
        "It stings for a moment and is then out of mind.", "It hurts a bit, no more.", "Low-grade pain only.",
        "Aches faintly, without spoiling the day.", "Has to think about it to notice that something is sore.",
    ),
    2: phrases(
        "The pain disturbs work but can be borne.", "It hurts enough to wake up now and then.",
        "The pain is of middling strength.", "Pain: moderate.", "The pain is moderate.", "Reports medium pain.",
        "The pain is neither slight nor extreme.", "It hurts noticeably, though one can get through the day.",
        "Has to pause at work because of the ache, then carries on.", "The ache is a real nuisance but not dreadful.",
        "Puts the pain in the middle of the scale.", "Grits the teeth for pain when dressing, yet still manages alone.",
        "It is sore enough to give up sport.", "Moderate in degree, as pain goes.",
        "Bearable but tiresome pain slows every chore.",
        "It aches enough to cancel an evening out, but not to stay in bed.",
    ),
    3: phrases(
        "Screams when touched and cannot sleep at all.", "The agony is hardly bearable.",
        "Never felt such pain before.", "Pain: severe.", "The pain is severe.", "Suffers intense pain.",
        "It hurts terribly.", "Excruciating, in the patient's own word for the pain.",
        "Weeps with pain and finds no position to rest in.", "Could hardly be examined, so violent is the pain.",
        "Begs for anything that would dull the torment.", "Lies curled up, white and sweating with pain.",
        "The pain is the worst imaginable.", "Very strong pain, at the top of the scale.",
        "Is in torment by day and by night.", "It hurts so fiercely that speaking is impossible.",
    ),
}  # fmt: skip
PAIN_LEVELS = {0: "none", 1: "mild", 2: "moderate", 3: "severe"}
SMOKES = {
    True: phrases(
        "Goes through a pack of cigarettes every other day.", "Lights up after each meal.", "Still smokes a pipe.",
        "Smoker: yes.", "Smokes.", "Is a regular smoker.", "Tobacco: daily.", "A current user of tobacco.",
        "Enjoys a cigar most evenings.", "Rolled a cigarette in the waiting room to have on the way home.",
        "Stood smoking at our door before coming in.", "Every break at work is a cigarette break.",
        "Has not managed to give up tobacco.", "Smoking status: active.",
        "Reaches for a cigarette first thing in the morning.",
        "The ashtray at home fills up by noon, and nobody else uses it.",
    ),
    False: phrases(
        "Has never touched tobacco.", "Gave up cigarettes years ago.", "Does not smoke.", "Smoker: no.", "Non-smoker.",
        "Is not a smoker.", "Tobacco: none.", "Lives without cigarettes.",
        "Cannot bear smoke and never lit a cigarette.",
        "Threw the last packet of cigarettes away long ago and has stayed off them.",
        "Neither cigarette nor pipe nor cigar is ever lit.", "Waved off the question about tobacco with a proud no.",
        "Keeps away from tobacco.", "Smoking status: not a user.", "Cigarettes play no part in this patient's life.",
        "Quit smoking long since, without relapse.",
    ),
}  # fmt: skip
BETTER = {
    "better": phrases(
        "Feels much improved since the last visit.", "Most of it has cleared up.", "Recovery goes faster than hoped.",
        "Course: improving.", "Things are better than before.", "The condition has improved.",
        "Good progress since last time.", "Has turned the corner.", "The complaint is fading week by week.",
        "Little by little the old strength returns.", "The treatment so far is paying off.",
        "Manages what was out of the question at the last visit.", "Is well on the mend.", "Trend: getting better.",
        "There is less of the complaint every time we look.", "Bounces back nicely.",
    ),
    "same": phrases(
        "Nothing has changed since the last visit.", "The state is just as before.",
        "There was neither progress nor setback.", "Course: unchanged.", "Stable.", "No change.",
        "The picture is the same as last time.", "Neither better nor worse.", "The complaint has stayed at one level.",
        "Could only repeat word for word what was said last time.", "The weeks in between made no difference.",
        "The complaint has shifted neither up nor down.", "Things stand where they stood.", "Trend: flat.",
        "My earlier note could be copied without alteration.", "The condition holds steady.",
    ),
    "worse": phrases(
        "It has grown worse from day to day.", "The complaint has spread and deepened.",
        "Has lost ground since the last visit.", "Course: deteriorating.", "Things are worse than before.",
        "The condition has worsened.", "A clear setback.", "Decline since last time.",
        "Each week brings more trouble than the one before.",
        "What could still be managed at the last visit no longer can.",
        "The treatment so far has not stopped the slide.", "There is more of the trouble than there was last time.",
        "Is going downhill.", "Trend: getting worse.", "The illness is gaining the upper hand.",
        "The outlook darkens with every visit.",
    ),
}  # fmt: skip
REFERRED = {
    True: phrases(
        "Sent on to the hospital for further tests.", "I ask a specialist to see this.",
        "A letter for the clinic was handed over.", "Referral: yes.", "Referred to a specialist.", "Referral made.",
        "We have asked for a specialist's opinion.", "To be examined at the outpatient clinic.",
        "The university hospital has been asked for a slot.", "Transfer papers for the hospital are signed.",
        "This goes beyond what a practice like ours can do, so the hospital takes it from here.",
        "I have rung the ward, and a bed is ready there.", "Referred to a colleague in the city.",
        "Passed on to a specialist.", "The hospital is expecting this patient.",
        "An expert outside our practice is to look into it.",
    ),
    False: phrases(
        "We can treat this here.", "No specialist is needed.", "Care stays with our practice.", "Referral: none.",
        "Not referred.", "No referral was made.", "Treated at our own practice.",
        "The hospital need not be troubled with this.", "Our own means are enough.", "I keep this in my own hands.",
        "I see no reason to send this anywhere else.",
        "Handing the case on would bring nothing new, so we carry on ourselves.", "Nobody else has to be involved.",
        "Referral: not required.", "This can be dealt with in our own rooms.", "I go on looking after this myself.",
    ),
}  # fmt: skip
VISIT = phrases(
    "Seen on {d}", "Visit: {d}", "Consultation of {d}", "Examined {d}", "Date of this visit: {d}", "Came in on {d}",
    "Today's date: {d}", "Note of the visit on {d}", "In the consulting room on {d}", "Appointment held {d}",
    "Presented on {d}", "Visit date {d}",
)  # fmt: skip
BORN = phrases(
    "born {d}", "date of birth {d}", "DOB {d}", "born on {d}", "d.o.b. {d}", "birthday {d}", "birth: {d}",
    "came into the world on {d}", "day of birth: {d}", "birth date {d}", "b. {d}", "date born: {d}",
)  # fmt: skip
NEXT = phrases(
    "Comes back on {d}.", "Next appointment: {d}.", "To be seen again {d}.", "Review on {d}.", "Next visit: {d}.",
    "We meet again on {d}.", "Return date: {d}.", "I want another look on {d}.", "Booked in again for {d}.",
    "Follow-up {d}.", "Due back {d}.", "The coming appointment is on {d}.",
)  # fmt: skip
NO_NEXT = phrases(
    "Comes back only if needed.", "No further appointment.", "Will ring if it returns.", "Next visit: none.",
    "No new date was set.", "A return visit is not required.", "To come again only when something new turns up.",
    "No check-up has been booked.", "No later visit is planned.", "Follow-up not planned.",
    "Return visit: not arranged.", "Need not come again.",
)  # fmt: skip
OTHER_DAY = phrases(
    "Vaccinated {d}.", "Last blood test {d}.", "Operated on {d}.", "On sick leave since {d}.",
    "X-ray of {d} is on file.", "Tetanus booster given {d}.", "Patient of this practice since {d}.",
    "Dental surgery {d}.", "Left hospital {d}.", "Moved here {d}.", "Eye test done {d}.", "Insurance card issued {d}.",
)  # fmt: skip
TEMPERATURE = phrases(
    "temperature {n} °C", "temp. {n} °C", "fever check {n} °C", "temperature today {n} °C",
    "our thermometer reads {n} °C", "body temperature: {n} °C", "temp. on arrival {n} °C",
    "ear thermometer just now {n} °C", "T {n} °C", "body heat {n} °C", "measured today {n} °C",
    "current temperature {n} °C",
)  # fmt: skip
WEIGHT = phrases(
    "weight {n} kg", "weighs {n} kg", "on the scales {n} kg", "weight today {n} kg", "now weighs {n} kg",
    "weight: {n} kg", "present weight {n} kg", "weighed here at {n} kg", "our scales show {n} kg", "body weight {n} kg",
    "current weight {n} kg", "tips the scales at {n} kg",
)  # fmt: skip
OLD_WEIGHT = phrases(
    "in spring {n} kg", "target {n} kg", "before the illness {n} kg", "last year {n} kg", "at the last visit {n} kg",
    "desired weight {n} kg", "on joining the practice {n} kg", "before the holidays {n} kg", "two years back {n} kg",
    "a year ago {n} kg", "goal {n} kg", "last winter {n} kg",
)  # fmt: skip
PULSE = phrases(
    "pulse {n}", "heart rate {n}", "HR {n} per minute", "pulse today {n}", "heart rate: {n} bpm", "pulse {n}/min",
    "{n} heartbeats a minute", "pulse counted at {n}", "heart beating at {n} per minute", "pulse rate {n}",
    "pulse reading {n}", "{n} beats per minute",
)  # fmt: skip
OLD_TEMPERATURE = phrases(
    "yesterday at home {n} °C", "three days ago {n} °C", "peak in the night {n} °C", "last week {n} °C",
    "the evening before {n} °C", "at the last visit {n} °C", "before the first tablet {n} °C", "earlier reading {n} °C",
    "the day before yesterday {n} °C", "on Monday {n} °C", "last month {n} °C",
    "on the first day of the illness {n} °C",
)  # fmt: skip
DRUGS = phrases(
    "ibuprofen", "amoxicillin", "metoprolol", "cetirizine", "prednisolone", "ramipril", "naproxen", "doxycycline",
    "bisoprolol", "loratadine", "furosemide", "paracetamol", "omeprazole", "lisinopril", "atorvastatin", "metformin",
    "amlodipine", "citalopram", "gabapentin", "tramadol", "simvastatin", "warfarin", "clarithromycin", "levothyroxine",
    "montelukast", "spironolactone", "valsartan", "propranolol", "cefuroxime", "pantoprazole", "azithromycin",
    "diclofenac", "fexofenadine", "candesartan", "atenolol", "meloxicam", "erythromycin", "torasemide", "losartan",
    "flucloxacillin",
)  # fmt: skip
DOSES = (5, 10, 20, 25, 40, 50, 75, 100, 150, 200, 250, 400, 500)
DOSE = phrases(
    "{drug} {mg} mg", "{drug}, {mg} mg daily", "{mg} mg of {drug}", "{drug} ({mg} mg)", "{drug} {mg} mg once a day",
    "{drug}: {mg} mg", "{mg} mg {drug}", "{drug} tablets of {mg} mg", "{drug} [{mg} mg]", "{drug} at {mg} mg a day",
    "{drug} in a dose of {mg} mg", "{drug} - {mg} mg each morning",
)  # fmt: skip
PRESCRIBED = phrases(
    "Prescribed: {list}.", "Plan: {list}.", "I start {list}.", "Treatment: {list}.", "New medication: {list}.",
    "Prescription issued: {list}.", "We begin with {list}.", "From today: {list}.", "I have written out {list}.",
    "To take from now on: {list}.", "Newly prescribed: {list}.", "The chemist is to hand out {list}.",
)  # fmt: skip
STOPPED = phrases(
    "Stopped: {x}.", "No longer takes {x}.", "{x} was given up last year.", "Discontinued: {x}.",
    "Came off {x} before this visit.", "Former medication: {x}.", "Must not go on with {x}.",
    "{x} ran out in spring and is not renewed.", "Taken off the list: {x}.", "Earlier tried without success: {x}.",
    "Past treatment, now ended: {x}.", "Used to take {x}.",
)  # fmt: skip
ALLERGENS = phrases(
    "penicillin", "latex", "peanuts", "wasp stings", "nickel", "iodine", "eggs", "aspirin", "house dust", "hazelnuts",
    "cow's milk", "soya", "celery", "mustard", "strawberries", "cat hair", "grass pollen", "ragweed", "bee venom",
    "lupin", "almonds", "tomatoes", "sulphites", "cobalt", "chromium", "lanolin", "codeine", "horse dander",
    "mould spores", "wheat flour", "shellfish", "kiwi", "sesame", "walnuts", "rye pollen", "dog fur", "pineapple",
    "tetracycline", "peaches", "formaldehyde",
)  # fmt: skip
ALLERGIC = phrases(
    "Allergic to {list}.", "Does not tolerate {list}.", "Known allergies: {list}.", "Allergies: {list}.",
    "Must avoid {list} because of an allergy.", "Hypersensitive to {list}.", "The patient's allergy card lists {list}.",
    "Intolerances: {list}.", "Has an allergy to {list}.", "Reacts to {list}.", "Allergies to note: {list}.",
    "An allergic reaction is known to follow {list}.",
)  # fmt: skip
NOT_ALLERGIC = phrases(
    "The sister is allergic to {x}.", "Tolerates {x} well.", "A test for {x} was negative.", "No reaction to {x}.",
    "Has no allergy to {x}.", "A suspected allergy to {x} was ruled out.", "The father must avoid {x}.",
    "The brother's allergy card names {x}.", "Copes with {x} without any trouble.", "The mother reacts to {x}.",
    "An uncle does not tolerate {x}.", "Nothing happened after contact with {x}.",
)  # fmt: skip
LAYOUTS = phrases(
    "{patient}, {born}\n{visit}\nDoctor: {doctor}\n\n{story}\n\nFindings: {findings}.\n{history}\n{allergies}\n\n{plan} {next}",
    "{visit}, at the practice of {doctor}. {history}\nPatient: {patient} ({born}), brought by {relative}.\n\n{story} {allergies}\n{findings}.\n\n{plan}\n{next}",
    "Dear {colleague},\n\nI report on {patient}, {born}. {visit}. {story}\n\nOn examination {findings}. {allergies} {history} {plan} {next}\n\nWith thanks\n{doctor}",
    "Contact: {relative}\nName: {patient}\nNote by: {doctor}\n{history}\n{visit}\n{findings}\n{allergies}\n\n{story}\n\n{plan}\n{next}\n({born})",
    "{history} {visit}.\n\n{doctor} notes on {patient} ({born}): {story}\n{allergies}\n\nReadings: {findings}.\n{next} {plan}\nCopy to {colleague}",
    "Readings\n{findings}\n\n{visit}; author {doctor}; {born}; {patient}\n{next}\n\n{story}\n{plan} {allergies} {history}\nTo be told in an emergency: {relative}",
    "PRACTICE RECORD\nPatient | {patient}\nBirth | {born}\nDoctor | {doctor}\nAccompanied by | {relative}\n\n{visit}\n{findings}\n\n{story}\n{next}\n{plan}\n{allergies}\n{history}",
    "To: {colleague}\nFrom: Dr {doctor}\nSubject: our patient {patient} ({born})\n\n{history} {allergies}\n\nFor your information: {story}\n{visit}.\nMeasured: {findings}.\n\n{plan} {next}",
    "{patient}, {born}, was seen by {doctor}. {history} {visit}. {story} {allergies} The nurse wrote down: {findings}. {next} {plan}",
    "Notes of {doctor} for the file of {patient}\n* {born}\n* {visit}\n* {findings}\n* {story}\n{allergies}\n{plan}\n{next}\n{history}\nPhone contact in the family: {relative}",
    "Pt: {patient}\nDr: {doctor}\n{next}\n{history} {visit}; {born}.\nObs: {findings}.\nHx: {story}\n{plan}\n{allergies}\ncc {colleague}",
    "Dear {relative},\n\nas agreed, I write to you about {patient} ({born}). {history} {story}\n\n{visit}. We measured: {findings}. {plan} {allergies}\n{next}\n\nYours sincerely\n{doctor}, general practitioner",
    "{doctor}, practice notes\n{history}\n{visit}\n\n{patient} ({born}) came with {relative}. {story} {findings}. {plan} {allergies} {next}",
    "Letter to {colleague}\nFrom {doctor}\nConcerning {patient}, {born}\n\n{allergies} {plan}\n{next}\n\n{visit}. {findings}. {history}\n\n{story}",
    "Attending physician: {doctor}\nPatient: {patient}\nNext of kin: {relative}\n{allergies} {history}\n\n{next}\n{story}\n{plan}\n\n{visit} / {born}\nVital signs: {findings}",
    "On behalf of Dr {doctor}, the practice nurse recorded: {findings}. {history} {visit}. The patient is {patient}, {born}. {story}\n\n{allergies} {next} {plan}\nInvoice to {relative}, copy to {colleague}",
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
