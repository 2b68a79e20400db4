"""Property listings: one price among others, one area among others, and what state it is in."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join
from deg_core.generator.vocabulary import phrases

SORTS = {
    "flat": phrases(
        "It lies on the third floor of a larger block.", "Eleven parties share the stairwell.",
        "You have neighbours above and below.", "Type: flat.", "This is an apartment in a block.",
        "Property type: apartment.", "It has its own front door off a shared landing.",
        "Once a year all owners in the block meet about the common parts.",
        "Your letterbox hangs in a row with those of the other households.",
        "It takes up half a storey of an apartment building.",
        "A self-contained unit on an upper storey of a residential block.",
        "The hallway, the bins and the washing line are shared with the whole block.",
        "Kind of object: flat in a building of many homes.", "On sale is an apartment, not the building round it.",
        "Other households live right over your ceiling and under your floor.",
        "One of eight units in the same building.",
    ),
    "house": phrases(
        "It stands alone in its own garden.", "Two storeys, a roof and a fence that are all yours.",
        "A detached home for one family.", "Type: house.", "This is a detached house.",
        "Property type: family home, free-standing.", "You can walk all the way round it on your own lawn.",
        "A cottage for a single household, with gables and a garden gate.", "The whole building is a private home.",
        "From the attic down to the doorstep it belongs to one household.", "A villa behind its own hedge.",
        "Nobody lives above you or below you, and the front gate is yours alone.",
        "Kind of object: detached dwelling.", "It is a home that touches no other building.",
        "One family has the entire building and the lawn around it to itself.", "No wall is shared with anyone.",
    ),
    "office": phrases(
        "Twelve desks and a meeting room fit in.", "Filing shelves and phone booths await a law firm.",
        "Reception, server closet and open-plan floor are in place.", "Type: office.", "These are office premises.",
        "Property type: commercial space for desk work.",
        "Accountants or architects would feel at home here on weekdays.",
        "A place of work for clerks and consultants.",
        "The layout is made for teams, with glass-walled meeting rooms.",
        "An insurance broker or a tax adviser could receive clients here.",
        "Every room has network sockets for workstations.",
        "Your firm can put its nameplate at the entrance and its staff at their screens.",
        "Kind of object: office space.", "The rooms are meant for paperwork and meetings.",
        "Business premises for a firm whose people sit at computers.", "It may be used for desk work only.",
    ),
    "farm": phrases(
        "Stable and barn belong to it.", "Hay meadows surround the barn.", "Pasture begins behind the milking shed.",
        "Type: farm.", "This is a farm with its fields.", "Property type: agricultural holding.",
        "A hayloft and a henhouse come with the dwelling.", "Cows could graze from the gate down to the brook.",
        "A smallholding for people who want to keep sheep.",
        "There is ploughland of its own and a shed for the tractor.", "You buy arable land and the buildings on it.",
        "The yard has a silo, a pigsty and a cart shed.", "Kind of object: farmstead.",
        "Whoever takes it on can plough, sow and keep cattle.",
        "Several paddocks and a cowshed go with the buildings.", "Goats and an orchard belong with it.",
    ),
}  # fmt: skip
STATE = {
    1: phrases(
        "Only the walls can be kept.", "It cannot be lived in as it is.", "Condition: ruin.", "It is derelict.",
        "State of the property: uninhabitable, hardly more than a shell.",
        "Rain comes in everywhere and half the ceilings are down.", "The structure is collapsing.",
        "Ivy grows through the empty window frames and the beams are broken.",
        "Red signs warn that it may fall down at any moment.",
        "What you buy is a wreck that must be rebuilt from the ground.",
        "Long neglect has brought it to the point of collapse.",
        "Order a digger first, for most of it has to come down.", "State: dilapidated beyond repair.",
        "It is a ruin, to put it bluntly.",
        "Cracks as wide as a hand run through the outer walls, and no room is dry.",
        "The roof has fallen in and the floors are rotten.",
    ),
    2: phrases(
        "Kitchen and bathroom have had their day.", "It needs new wiring and a good deal of paint.",
        "Condition: needs work.", "It is dated and in need of renovation.",
        "State of the property: run-down but usable.", "The wallpaper peels and the taps drip.",
        "A fixer-upper for handy people.", "Plan some months of renovation, during which it can still be used.",
        "The pipes, the tiles and the sockets are overdue for replacement.",
        "It has been let go somewhat and wants modernising.",
        "Whoever buys it should reckon with a painter, a plumber and an electrician.",
        "The interior is tired and calls for an overhaul.", "State: in need of repair.",
        "It is usable, yet the list of jobs to be done is long.",
        "The carpets are worn through, the plaster crumbles in places and the basins are decades out of date.",
        "Much has to be renewed, though one can live there.",
    ),
    3: phrases(
        "It is well kept and can be used at once.", "A few scratches are all that shows its age.",
        "Condition: well kept.", "It is in good order.", "State of the property: sound, nothing needs doing.",
        "The owners have cared for it over the years, and it shows.",
        "Not new, but spotless and in full working order.",
        "It bears light traces of use and otherwise gives no cause for complaint.",
        "Maintenance was never put off, so no work awaits the buyer.",
        "The surveyor found only normal wear and no defects.",
        "It has been used with care, and you may leave your toolbox and paintbrush at home.",
        "Former users treated it gently and repaired every little thing.", "State: good, with slight signs of age.",
        "It has some years behind it but has been tended with care.",
        "Taps, doors and sockets all do their duty, and the paint was freshened whenever it faded.",
        "Everything works and has been looked after.",
    ),
    4: phrases(
        "Nobody has ever lived in it.", "The builders handed it over last month.", "Condition: brand new.",
        "It is a new build.", "State of the property: newly built, never used.",
        "Protective film still covers the door handles.", "You would be the very first to use it.",
        "First occupancy, nobody was there before you.", "The scaffolding has only just come down.",
        "Building work ended this season and the contractor's guarantee has just begun.",
        "Fresh from the builders, it has yet to see its first occupant.",
        "The mortar has hardly had time to dry since the workmen left the new walls.",
        "State: new, straight from the contractor.", "It has just been completed and is unused.",
        "No one has yet turned on a tap or closed a door there, apart from the workmen who put it up.",
        "It was finished only weeks ago and smells of fresh paint.",
    ),
}  # fmt: skip
STATE_LEVELS = {1: "ruin", 2: "needs work", 3: "well kept", 4: "brand new"}
QUIET = {
    True: phrases(
        "You hear birds and little else.", "The street ends here, so hardly a car comes by.",
        "At night it is perfectly still.", "Surroundings: quiet.", "The location is very calm.", "Noise level: low.",
        "Nothing louder than the wind reaches the windows.", "It lies in a peaceful spot.",
        "Through traffic is banned, and you could hear a pin drop.", "Light sleepers can leave the windows open.",
        "The nearest main road is far away and out of earshot.", "Visitors always remark on the hush.",
        "Setting: tranquil, no traffic noise.", "It is a silent corner of the district.",
        "Evenings there are so still that one notices an owl.", "Woods on three sides swallow every sound.",
    ),
    False: phrases(
        "Trams pass below the windows.", "A bar on the ground floor is open late.",
        "Lorries use the road day and night.", "Surroundings: noisy.", "The location is loud.", "Noise level: high.",
        "Planes on their final approach roar overhead.", "Earplugs are advisable at night.",
        "It lies at a busy crossroads where horns are heard all the time.",
        "Sirens from the fire station next door are part of daily life.", "Traffic can be heard in every room.",
        "The stadium across the road fills the air with chants and loudspeakers.",
        "Setting: lively, with a lot of noise from the street.",
        "A sawmill opposite screeches from morning to evening.",
        "Nobody could call the spot peaceful, with the motorway so near.", "The railway runs behind it.",
    ),
}  # fmt: skip
FURNISHED = {
    True: phrases(
        "Beds, tables and lamps stay.", "You can move in with a suitcase, as all furniture is there.",
        "It comes with everything from sofa to spoon.", "Furnished: yes.", "It is sold fully furnished.",
        "Furniture: included.", "Wardrobes, chairs and curtains pass to the buyer.",
        "The cupboards, the carpets and even the coffee cups stay where they are.",
        "No need for a removal van, as the furniture is already in the rooms and stays.",
        "The seller leaves every piece of furniture behind.",
        "You will find it complete with seats, shelves and cabinets.",
        "All the pieces in the photographs, armchairs and sideboards too, go with it.", "Furnishing: complete.",
        "Sofa, bookcases and tables change hands together with the keys.",
        "An inventory of chairs, mirrors and cupboards is sold along with the rooms.",
        "The furniture is part of the offer.",
    ),
    False: phrases(
        "The rooms are handed over empty.", "Bring your own furniture.", "Not so much as a chair remains.",
        "Furnished: no.", "It is sold unfurnished.", "Furniture: not included.", "All movables are taken out before the sale.",
        "Your footsteps will echo until you have bought some tables and chairs.",
        "Plan to buy everything from the bed to the bookshelf.", "You get the rooms but no furniture.",
        "There is nothing to sit on and nothing to sleep in.",
        "Whoever buys it must furnish it at their own expense.", "Furnishing: none.",
        "Without your own tables and cupboards you will sit on the floor.",
        "The armchairs and lamps in the pictures were only borrowed and are gone.", "It comes bare.",
    ),
}  # fmt: skip
LIFT = {
    True: phrases(
        "A lift goes to every floor.", "No stairs need be climbed, there is an elevator.",
        "The elevator was renewed.", "Lift: yes.", "The building has a lift.", "Elevator: available.",
        "Press a button and the cabin carries you and your shopping upstairs.",
        "Wheelchair users reach the door by lift.", "An elevator big enough for a pram serves the building.",
        "Heavy cases travel up in the elevator.", "From the entrance a lift takes you to your storey.",
        "Those who dislike steps simply press the call button and wait for the doors to slide open.",
        "Access: by elevator.", "The doors of the cabin open right on your landing.",
        "Anybody with weak knees will be glad of the lift.", "You ride up in a lift.",
    ),
    False: phrases(
        "Only stairs lead up.", "There is no elevator.", "You climb on foot.", "Lift: no.",
        "The building has no lift.", "Elevator: none.", "Every crate of water has to be carried up the steps.",
        "It is a walk-up.", "Your own legs are the only way to get upstairs.", "Access is by staircase only.",
        "Prams must be hauled up flight by flight.",
        "Those who cannot manage steps will not get there, for want of an elevator.",
        "Access: by stairs, without an elevator.", "Shopping goes up the steps in your own hands.",
        "Nobody ever installed an elevator in the building.", "A lift was never put in.",
    ),
}  # fmt: skip
PRICE = phrases(
    "Price: {a}", "Asking price {a}", "It is on sale for {a}", "The owner wants {a}", "Sale price {a}",
    "Purchase price: {a}", "to be sold at {a}", "the seller now asks {a}", "today's price is {a}",
    "the buyer pays {a} for it", "current asking price: {a}", "Offered at {a}",
)  # fmt: skip
OLD_PRICE = phrases(
    "first listed at {a}", "reduced from {a}", "last sold for {a}", "a neighbour's went for {a}", "down from {a}",
    "an earlier advert said {a}", "insured for {a}", "a similar one nearby fetched {a}",
    "rebuilding it would cost {a}", "the first price, since lowered, was {a}", "the tax office puts its value at {a}",
    "the bank valued it at {a}",
)  # fmt: skip
CHARGE = phrases(
    "monthly charges {a}", "service charge {a} a month", "running costs of {a} monthly", "monthly costs: {a}",
    "fees of {a} each month", "water, refuse and upkeep {a} a month", "charges per month: {a}",
    "ongoing costs {a} per month", "every month {a} is due for upkeep", "monthly fee {a}",
    "a further {a} a month in charges", "upkeep {a} per month",
)  # fmt: skip
AREA = phrases(
    "{n} m² inside", "living space {n} m²", "floor area {n} m²", "interior area: {n} m²", "rooms totalling {n} m²",
    "{n} m² of indoor space", "net internal area {n} m²", "inside it measures {n} m²", "usable floor space {n} m²",
    "indoors {n} m²", "all rooms together {n} m²", "interior of {n} m²",
)  # fmt: skip
OTHER_AREA = phrases(
    "terrace {n} m²", "plot of {n} m²", "cellar {n} m²", "garden {n} m²", "{n} m² of land", "courtyard {n} m²",
    "patio of {n} m²", "parking space of {n} m²", "lawn of {n} m²", "carport {n} m²", "outdoor grounds of {n} m²",
    "garage {n} m²",
)  # fmt: skip
BUILT = phrases(
    "built in {n}", "year of construction {n}", "dating from {n}", "erected in {n}", "completed in {n}",
    "year built: {n}", "constructed {n}", "put up in {n}", "its walls went up in {n}", "building finished {n}",
    "building year: {n}", "construction year {n}",
)  # fmt: skip
RENEWED = phrases(
    "roof renewed in {n}", "windows of {n}", "heating from {n}", "gutters replaced in {n}", "new boiler in {n}",
    "drive resurfaced in {n}", "energy audit of {n}", "porch added in {n}", "outer walls painted in {n}",
    "last surveyed in {n}", "drains relaid in {n}", "last sold in {n}",
)  # fmt: skip
FREE = phrases(
    "Free from {d}", "Available {d}", "To be handed over {d}", "Keys on {d}", "Available from: {d}",
    "Vacant as of {d}", "Handover date: {d}", "The seller hands it over on {d}", "Possession from {d}",
    "It becomes free on {d}", "The buyer gets possession on {d}", "Can be taken over from {d}",
)  # fmt: skip
NO_FREE = phrases(
    "Free by arrangement", "Date of handover open", "Handover to be agreed", "No date has been set for the handover",
    "Date of possession: to be agreed", "When it can be taken over is still open", "Available: not yet known",
    "The seller and the buyer will settle the handover between them", "It is not fixed yet when it becomes free",
    "Handover: no date given", "Ask us when it can be taken over", "Availability on request",
)  # fmt: skip
VIEWING = phrases(
    "Viewing: {d}", "Come and see it {d}", "Open to visitors {d}", "You can look at it on {d}",
    "Viewing appointment: {d}", "Guided tour on {d}", "The agent shows it on {d}", "Next showing {d}",
    "Look round it with us on {d}", "Visitors are let in on {d}", "Tour of the premises: {d}", "Inspection on {d}",
)  # fmt: skip
OTHER_DAY = phrases(
    "Listed {d}", "Energy certificate valid until {d}", "Advert renewed {d}", "Photos of {d}",
    "Advert runs until {d}", "Last edited {d}", "Leaflet about it printed {d}", "Price valid until {d}",
    "Land register extract of {d}", "Plans drawn {d}", "Our commission ends {d}", "Mandate signed {d}",
)  # fmt: skip
FEATURES = phrases(
    "bay window", "tiled stove", "wine cellar", "roof terrace", "sauna", "walk-in closet", "oak floor", "fireplace",
    "heat pump", "winter garden", "skylight", "guest toilet", "parquet floor", "stucco ceiling", "rain cistern",
    "charging point", "bike shed", "laundry room", "marble windowsill", "whirlpool tub", "burglar alarm",
    "video intercom", "French window", "mezzanine", "steam shower", "hobby room", "clawfoot bath", "pergola",
    "greenhouse", "serving hatch", "kitchen island", "swimming pool", "satellite dish", "ventilation system",
    "beamed ceiling", "bread oven", "solar roof", "pantry", "underfloor heating", "loggia",
)  # fmt: skip
WITH = phrases(
    "It has: {list}.", "Highlights: {list}.", "You will also find: {list}.", "Features: {list}.",
    "What it offers: {list}.", "Among its assets: {list}.", "Also there: {list}.", "Worth a mention: {list}.",
    "Equipment: {list}.", "On top of that it boasts: {list}.", "Its special points: {list}.", "Extras: {list}.",
)  # fmt: skip
WITHOUT = phrases(
    "Only the {x} is missing.", "A {x} could be added.", "The {x} was taken out.", "It lacks a {x}.",
    "No {x} is available.", "Unlike the property next door it has no {x}.", "Do not expect a {x}.",
    "A {x} is planned but not there yet.", "You would have to do without a {x}.", "Not present: {x}.",
    "A {x} never got beyond the drawing board.", "There is no {x}.",
)  # fmt: skip
LINK = phrases(
    "Details: {u}", "Exposé: {u}", "More on this one: {u}", "Page of this offer: {u}",
    "Pictures of this property: {u}", "See this object online: {u}", "Read the full description at {u}",
    "This listing on the web: {u}", "Everything about it: {u}", "Virtual tour of this object: {u}",
    "The page for this property is {u}", "Floor plan at {u}",
)  # fmt: skip
OTHER_LINK = phrases(
    "All our offers: {u}", "About the agency: {u}", "Privacy: {u}", "Our home page: {u}", "Terms of business: {u}",
    "Who we are: {u}", "Tools for buyers: {u}", "Legal notice: {u}", "Other properties for sale: {u}",
    "Complaints form: {u}", "General advice for sellers: {u}", "Mortgage calculator: {u}",
)  # fmt: skip
LAYOUTS = phrases(
    "{address}\n{agency}, offer {ref}\n\n{story}\n\n{sums}.\n{areas}; {years}.\n{features}\n\n{dates}\n\nContact: {agent}, {mail}\n{other_link}\n{link}",
    "{dates}\nRef. {other_ref}, now {ref}\n\n{agency} offers: {address}. {story} {features}\n\n{areas}. {years}. {sums}.\n\nOffice: {other_mail}\nAgent: {agent}, {mail}\n{link}",
    "Subject: New offer {ref}\nFrom: {other_mail}\n\nHello,\n\nyou asked for news. {story}\n\nWhere: {address}\nSize: {areas}\nAge: {years}\nMoney: {sums}\n{dates}\n\n{features} Please write to {agent} ({mail}).\n{other_link}\n{link}\n{agency}",
    "Offer {ref} (formerly {other_ref})\n{years}\n{sums}\n{areas}\n{address}\n\n{features} {story}\n\n{dates_inline}.\n{agent} of {agency}: {mail}; secretary: {other_mail}\n{link}",
    "{other_link}\n\n{story} {years}; {areas}. The address is {address}.\n\n{features}\n{dates_inline}. {sums}.\n\n{agency}, {agent}\n{mail}\nNumber {ref}\n{link}",
    "Agency | {agency}\nSecretary | {other_mail}\nAgent | {agent}, {mail}\nObject | {address}\nNumber | {ref}\nDates | {dates_inline}\nSums | {sums}\nSize | {areas}\nYears | {years}\n\n{story}\n{features} {link}",
    "Property: {address}\nReference: {ref}\nEstate agency: {agency}\nAgent in charge: {agent}\nAgent's e-mail: {mail}\nGeneral mailbox: {other_mail}\n\n{dates}\n\n{areas}; {years}.\n{sums}.\n\nDescription: {story} {features}\n\n{other_link}\n{link}",
    "{agency}\nFront office: {other_mail}\n\nDear Madam or Sir,\n\nour number {ref} may interest you; it used to run under {other_ref}. {story}\n\nAddress: {address}. {areas}. {years}. {sums}. {features}\n\n{dates_inline}.\n\nWith any questions turn to {agent}, who handles the sale: {mail}\n{link}\n{other_link}",
    "{ref} - {address}\n\n* {areas}\n* {sums}\n* {features}\n* {story}\n\n{years}.\n{dates}\n\nOffered by: {agency}\nContact person: {agent}\nWrite to: {mail}\n{link}\n{other_link}",
    "{agent} looks after this one for {agency}. {story} {areas}. {features} {years}. {sums}. You find it at {address}.\n\n{dates_inline}.\n\n{link}\n{other_link}\nReply to {mail} and quote {ref}, not the withdrawn number {other_ref}. Accounts department: {other_mail}",
    "Number now | {ref}\nNumber before | {other_ref}\nWhere | {address}\nFirm | {agency}\nBroker | {agent}\nBroker's mail | {mail}\nTrainee's mail | {other_mail}\nMoney | {sums}\nSize | {areas}\n\n{features} {story} {years}.\n\n{dates}\n{other_link}\n{link}",
    "{sums}. {areas}. {years}.\n{story}\n{features}\n{dates_inline}.\n\nobj. {ref} / {address} / {agency}\nask for {agent}, {mail} (not {other_mail}, that is the caretaker)\n{link}\n{other_link}",
    "From: {agent} <{mail}>\nCc: {other_mail}\nSubject: {address}\n\nGood morning,\n\n{dates}\n\n{features} {sums}. {story} {areas}. {years}.\n\nKind regards\non behalf of {agency}\nOffer no. {ref}, replacing {other_ref}\n{other_link}\n{link}",
    "DATA SHEET\n- Offer: {ref}\n- Former offer: {other_ref}\n- Location: {address}\n- Prices: {sums}\n- Areas: {areas}\n\n{story}\n\n{years}. {features}\n{dates_inline}.\n\nSelling agency: {agency}\nPerson to contact: {agent}\nE-mail of that person: {mail}\nE-mail of the archive: {other_mail}\n{link}\n{other_link}",
    "{other_link}\n{link}\n\n{agency} - {address}\n{ref} (old number {other_ref})\n\n{dates}\n{areas}. {years}.\n\n{story} {features} {sums}.\n\n{agent}, {mail} (reception {other_mail})",
    "{agent} ({mail}) writes on behalf of {agency}:\n\n{features} {story} {sums}. {areas}; {years}.\n\n{dates}\nOffer {ref}: {address}\n{other_link}\n{link}\nReception: {other_mail}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a listing."""
    sort, state = draw.one(tuple(SORTS)), draw.one(tuple(STATE))
    quiet, furnished = draw.chance(0.5), draw.one((True, False, None))
    lift = draw.one((True, False, None)) if sort in ("flat", "office") else None
    for key, value in (
        ("sort", sort),
        ("state", state),
        ("quiet", quiet),
        ("furnished", furnished),
        ("lift", lift),
        ("usable", state >= 3),
    ):
        draw.know(key, value)
    agency, agent, clerk, address = draw.company(), draw.person(), draw.person(), draw.address()
    condition = {1: "ruined", 2: "run-down", 3: "well-kept", 4: "brand-new"}[state]
    draw.know(
        "summary", f"{agency} offers a {condition} {sort} at {address}, in a {'quiet' if quiet else 'noisy'} spot."
    )
    story = [draw.phrase(SORTS[sort]), draw.phrase(STATE[state]), draw.phrase(QUIET[quiet])]
    story += [draw.phrase(FURNISHED[furnished])] if furnished is not None else []
    story += [draw.phrase(LIFT[lift])] if lift is not None else []
    dates = _dates(draw)
    ref, other_ref = draw.several_codes(draw.one(("P", "OB-", "RE")), 2)
    site = f"https://{agency.split()[0].lower()}.example"
    return {
        "address": draw.say("address", address),
        "agency": draw.say("agency", agency),
        "agent": draw.say("agent", agent.full),
        "mail": draw.say("mail", agent.email),
        "other_mail": clerk.email,
        "ref": draw.say("ref", ref),
        "other_ref": other_ref,
        "story": join(" ", draw.shuffled(story)),
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "sums": _sums(draw),
        "areas": _areas(draw),
        "years": _years(draw, state),
        "features": _features(draw),
        "link": draw.maybe(0.6, "link", lambda: draw.phrase(LINK, u=draw.say("link", f"{site}/{ref.lower()}"))),
        "other_link": draw.phrase(OTHER_LINK, u=f"{site}/{draw.one(('list', 'about', 'legal', 'tools'))}"),
    }  # fmt: skip


def _dates(draw: Draw) -> Sequence[Part]:
    free = draw.maybe(
        0.6, "free", lambda: draw.phrase(FREE, d=draw.say_day("free", draw.day(20, 200))), draw.phrase(NO_FREE)
    )
    viewing = draw.maybe(
        0.6, "viewing", lambda: draw.phrase(VIEWING, d=draw.say_moment("viewing", draw.moment(draw.day(3, 18))))
    )
    return draw.shuffled([free, viewing, draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-60, 60)))])


def _sums(draw: Draw) -> Part:
    price = draw.rng.randrange(90, 900) * 1000
    said = draw.phrase(PRICE, a=draw.with_currency(draw.say_whole("price", price)))
    old = draw.phrase(OLD_PRICE, a=draw.with_currency(draw.print_whole(price + draw.rng.randrange(5, 60) * 1000)))
    charge = draw.maybe(0.6, "charge", lambda: draw.phrase(CHARGE, a=draw.say_money("charge", draw.cents(60, 700))))
    return capitalised(join(", ", draw.shuffled([said, old, charge])))


def _areas(draw: Draw) -> Part:
    other = draw.phrase(OTHER_AREA, n=draw.print_tenths(draw.rng.randrange(80, 900)))
    area = draw.phrase(AREA, n=draw.say_tenths("area", draw.rng.randrange(300, 2400)))
    return capitalised(join(", ", draw.shuffled([other, area])))


def _years(draw: Draw, state: int) -> Part:
    """The year of construction, or none; a brand-new building has had nothing renewed."""
    year = draw.today.year if state == 4 else draw.rng.randrange(1890, 2005)
    built = draw.maybe(0.65, "built", lambda: draw.phrase(BUILT, n=draw.say("built", year)))
    renewed = "" if state == 4 else draw.phrase(RENEWED, n=str(draw.rng.randrange(2006, 2024)))
    return capitalised(join(", ", draw.shuffled([built, renewed])))


def _features(draw: Draw) -> Part:
    count = draw.one((0, 1, 2, 3, 3))
    draw.know("features", count)
    missing = draw.phrase(WITHOUT, x=draw.fresh(FEATURES))
    if not count:
        return missing
    names = [draw.say(f"features/{i}", name) for i, name in enumerate(draw.several(FEATURES, count))]
    return join(" ", draw.shuffled([draw.phrase(WITH, list=join(", ", names)), missing]))


VARIANTS = {
    "listing": s.group(
        {
            "reference": s.text("ref", "Current number of the offer."),
            "address": s.text("address"),
            "type": s.choice("sort", {k: k for k in SORTS}),
            "price": s.core(s.number("price", "Price asked now.")),
            "monthly_charges": s.number("charge", null=True),
            "area_m2": s.number("area", "Area inside."),
            "year_built": s.integer("built", null=True),
            "available_from": s.day("free", null=True),
            "condition": s.scale("state", 1, 4, levels=STATE_LEVELS),
            "furnished": s.yes_no("furnished", null=True),
            "features": s.items("features", s.text("")),
            "summary": s.written("summary", "One sentence: who offers what, where, in which state and spot."),
        }
    ),
    "visit": s.group(
        {
            "object": s.text("address", "Address of the property."),
            "broker": s.group({"company": s.text("agency"), "person": s.text("agent"), "email": s.text("mail", format="email")}),
            "viewing_at": s.core(s.moment("viewing", null=True)),
            "category": s.choice("sort", {"flat": ("apartment", "Part of a block."), "house": ("detached", "A home on its own."), "office": ("business", "For desk work."), "farm": ("agricultural", "With land or stables.")}),
            "quiet": s.yes_no("quiet"),
            "elevator": s.yes_no("lift", "Null when not stated.", null=True),
            "asked": s.number("price"),
            "link": s.text("link", "Page about this object.", optional=True, format="uri"),
            "equipment": s.items("features", s.text(""), "What it has."),
        }
    ),
    "valuation": s.group(
        {
            "offer_no": s.text("ref"),
            "seller_agent": s.text("agency", "Company that offers it."),
            "asking_price": s.core(s.number("price")),
            "floor_space": s.number("area"),
            "built": s.integer("built", optional=True),
            "charges": s.number("charge", "Costs of a month.", optional=True),
            "handover": s.day("free", optional=True),
            "in_good_order": s.yes_no("usable", "Is it in good order?"),
            "surroundings": s.choice("quiet", {True: "quiet", False: "noisy"}),
            "state": s.choice("state", {1: "derelict", 2: "dated", 3: "sound", 4: "new"}),
            "extras": s.items("features", s.text(""), most=6),
            "abstract": s.written("summary", "One sentence: who offers what, where, in which state and spot."),
        }
    ),
}  # fmt: skip
PROPERTY = Kind("property", LAYOUTS, compose, VARIANTS)
