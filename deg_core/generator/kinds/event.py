"""Event notices: when it starts, what it costs whom, and for whom it is meant."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator import vocabulary as words
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

TITLES = phrases(
    "Night of the Lanterns", "Small Boats, Big Sea", "Bread and Bones", "Winter Strings", "The Quiet Forest",
    "Maps of Tomorrow", "Salt and Smoke", "Open Looms", "Clay for Beginners", "Songs of the Canal", "Bees in the City",
    "Paper Moons", "The Amber Room", "Letters from the Harbour", "Wool and Water", "The Hidden Bridge",
    "Fields of Copper", "Tide and Timber", "The Clockmaker's Cat", "Voices in the Fog", "Northern Apples",
    "The Painted Door", "Silver and Thread", "Whales and Wires", "Roots and Rails", "The Green Kettle",
    "Owls of the Valley", "Glass, Fire, Breath", "Tales of the Ferry", "A House of Feathers", "The Last Orchard",
    "Moss and Marble", "Rivers Without Names", "Kites above the Quay", "The Velvet Compass", "Echoes of the Quarry",
    "The Long Table", "Rust and Colour", "Stars over the Mill", "Ink and Iron",
)  # fmt: skip
HOUSES = phrases(
    "Old Granary", "Town Library", "Foundry Hall", "Seaman's Chapel", "Botanical House", "Glass Pavilion",
    "Corn Exchange", "Tram Depot", "Water Tower", "Rope Factory", "Silk Warehouse", "Signal Box", "Old Mint",
    "Malt House", "Guild Hall", "Dockers' Club", "Paper Mill", "Pump Station", "Velvet Theatre", "Merchants' Chamber",
    "Market Gallery", "Navigators' Lodge", "Weavers' Hall", "Lamp Works", "Cooper's Loft", "Riverside Studio",
    "Ice House", "Central Bathhouse", "Post Museum", "Salt Store", "Tannery Rooms", "Bell Gallery", "Harbour Office",
    "Cotton Exchange", "Printers' Union", "Observatory Dome", "Fishmongers' Hall", "Linen Mill", "Customs House",
    "Brick Works",
)  # fmt: skip
AUDIENCES = {
    "children": phrases(
        "Made for those between six and ten, while parents wait outside.",
        "Pupils of the lower classes are the guests.", "Little ones may paint and shout as they like.",
        "It is for boys and girls who have just learned to read.", "Audience: children.", "For kids only.",
        "This one belongs to the children alone.",
        "Grown-ups hand over their offspring at the entrance and come back later.",
        "We have tailored it to primary school age.", "Cuddly toys are welcome, adults are not.",
        "Mums and dads get a coffee down the street while their sons and daughters have fun.",
        "Nursery groups and school classes are whom we planned this for.", "Age group: children only.",
        "A treat for the very young, and no adult will be let in.",
        "Whoever still has milk teeth is exactly right here, and nobody else.",
        "Only those under twelve may take part.",
    ),
    "professionals": phrases(
        "Aimed at people who do this for a living.", "Bring your business cards, as the trade meets here.",
        "We expect you to know the regulations of your industry.",
        "The talks are meant for practitioners and count as further training.", "Audience: professionals.",
        "For members of the trade only.", "This is an event for specialists in the field.",
        "Only people who work in the sector are invited.",
        "Please bring proof of your occupation, as laypeople cannot be admitted.",
        "Daily practice in the job is assumed, and the general public stays away.",
        "Your employer can put it down as staff training.", "Expect shop talk among experts of the same craft.",
        "Intended guests: practitioners of the profession.",
        "We have thought of those who earn their bread in this line of work.",
        "Name badges show firm and job title, and you will meet many of your competitors.",
        "Colleagues from the branch exchange their figures.",
    ),
    "everyone": phrases(
        "From grandmother to toddler, all are welcome.", "No age limit and no previous knowledge.",
        "Whoever you are, come along.", "Neighbours, tourists, families: the door is open.", "Audience: everyone.",
        "Open to the public.", "Anybody may come.", "It is meant for people of every age.",
        "All ages, all trades, all languages.", "Come alone, with your grandchildren or with your whole street.",
        "You need no special knowledge, and nobody is too young or too old.",
        "We turn no one away for being too young or new to the subject.", "Who may attend: anyone at all.",
        "The whole town is invited, whatever its age or job.",
        "Bring the baby, the boss and the neighbour from upstairs.", "Young and old will find something.",
    ),
}  # fmt: skip
FORMS = {
    "concert": phrases(
        "A quartet plays for ninety minutes.", "You will hear three choirs.", "The band brings its new songs.",
        "An evening with piano and voice.", "Format: concert.", "This is a concert.", "Live music is on offer.",
        "Musicians perform works old and new.", "Sit back and listen to strings and brass.",
        "A singer and her guitar carry you through the hours.", "The orchestra has rehearsed a symphony for you.",
        "Drums, bass and saxophone set the tone.", "Type of event: live music.",
        "An ensemble plays for you on old instruments.",
        "Bows and reeds are ready, and the conductor raises his baton.", "Two fiddlers and a drum fill the room.",
    ),
    "talk": phrases(
        "An author speaks and takes questions.", "A researcher explains her findings with slides.",
        "You will listen to a lecture of an hour.", "A panel debates and you may join in.", "Format: talk.",
        "This is a lecture.", "Someone who knows the subject gives a speech.",
        "An expert reports and then answers what you ask.", "You will hear a reading, followed by a discussion.",
        "A traveller describes her journey and shows pictures of it.",
        "From the lectern our speaker sets out his argument.", "A historian tells what she found in the archives.",
        "Type of event: spoken lecture.", "The floor belongs to an invited speaker, and later to your questions.",
        "You listen while a scientist thinks aloud about her life's work.", "Our guest tells how it all began.",
    ),
    "workshop": phrases(
        "You make your own piece and take it home.", "Aprons are provided, as hands get dirty.",
        "In groups of six you try the tools yourselves.", "You learn by doing, step by step.", "Format: workshop.",
        "This is a workshop.", "It is a hands-on course.", "Practise the craft with your own hands under guidance.",
        "Tools lie ready, and each participant builds something.", "You will not just watch but saw, glue and sand.",
        "An instructor shows the moves and then it is your turn to try them.",
        "Expect sore fingers and a finished object at the end.", "Type of event: practical course.",
        "Roll up your sleeves, for each of you works on a piece of your own.",
        "You will go home with glue on your fingers and something self-made in the bag.",
        "Bring old clothes, because you will work with the material.",
    ),
}  # fmt: skip
OUTSIDE = {
    True: phrases(
        "We sit under the trees, so bring a coat.", "In rain it is called off, for there is no roof.",
        "The stage stands on the lawn.", "Setting: outdoors.", "The event is held outside.",
        "We meet under the open sky.", "There is nothing over our heads but clouds, so dress for the weather.",
        "Everything takes place in the open courtyard.", "Bring a blanket and sit on the grass.",
        "In the meadow behind the house we have put up benches.", "Sun hats and insect spray are a good idea.",
        "If a thunderstorm comes, we have to break off.", "Location: open air.",
        "Blackbirds and the wind in the leaves will join in.",
        "We stay in the garden throughout, whatever the clouds do.", "It happens in the open air.",
    ),
    False: phrases(
        "The room is heated.", "All of it takes place under a roof.", "Rain need not worry you, since we are inside.",
        "Setting: indoors.", "The event is held inside.", "We stay within the walls of the building.",
        "It takes place in the main hall.", "Whatever the weather, you will stay dry and warm.",
        "The windows will be darkened and the lamps dimmed.",
        "Please hang wet coats in the foyer before you enter the hall.",
        "Even in a storm nothing has to be called off, as we gather in the great hall.",
        "The air conditioning keeps the hall cool.", "Location: indoors.",
        "You will be sitting under a vaulted ceiling.", "We have lit the chandelier and waxed the parquet for you.",
        "Cloakroom and bar are in the building.",
    ),
}  # fmt: skip
STEPS = {
    True: phrases(
        "Wheelchairs reach every seat.", "There is a ramp and a wide door.", "The way in has no steps.",
        "Wheelchair access: yes.", "Accessible for wheelchairs.", "The venue is barrier-free.",
        "Wheelchair users can get in without help.", "You can roll in from the street, as everything is level.",
        "Planks over the steps let a wheelchair get across easily.",
        "A side gate at ground level lets in guests who use a wheelchair.",
        "Guests in wheelchairs have the front row to themselves.", "Ramps lead to all areas.", "Barrier-free: yes.",
        "Nothing stands in the way of a wheelchair here.", "Not one stair lies between the pavement and your place.",
        "Seats for wheelchair users are kept free.",
    ),
    False: phrases(
        "Sadly the steep stairs cannot be avoided.", "Wheelchairs do not fit through the door.",
        "The only way in is a spiral staircase.", "Wheelchair access: no.", "Not accessible for wheelchairs.",
        "The venue is not barrier-free.", "Guests in wheelchairs unfortunately cannot get in.",
        "The path ends at high steps without a ramp.", "We are sorry that wheelchair users cannot reach the place.",
        "Anyone who cannot manage stairs will be unable to take part.",
        "The gate is too narrow for a wheelchair and the sill too high.",
        "You have to climb a long flight of steps to get there.", "Barrier-free: no.",
        "Wheelchair users are shut out for now, as a ramp is still missing.",
        "It takes sound legs to get in, since every route leads over stairs.", "There is no access without steps.",
    ),
}  # fmt: skip
STARTS = phrases(
    "Start: {d}", "It begins {d}", "Curtain up {d}", "We start on {d}", "Beginning of the event: {d}", "When: {d}",
    "The event starts {d}", "Date and time: {d}", "It all gets going {d}", "Kick-off {d}", "Time of the event: {d}",
    "Opening words {d}",
)  # fmt: skip
DOORS = phrases(
    "Box office from {d}", "Ticket sale since {d}", "Rehearsal: {d}", "Press preview {d}", "Sound check {d}",
    "Press conference: {d}", "Helpers meet {d}", "Technical run-through {d}", "Posters go up {d}",
    "Advance sale from {d}", "Chairs delivered {d}", "Stage set up {d}",
)  # fmt: skip
REGISTER = phrases(
    "Sign up by {d}", "Book before {d}", "Registration closes {d}", "Places can be reserved until {d}",
    "Registration deadline: {d}", "Please register no later than {d}", "Sign-up ends on {d}",
    "Closing date for bookings: {d}", "We take registrations until {d}", "Reserve your place by {d}",
    "Bookings accepted up to {d}", "Last day to register: {d}",
)  # fmt: skip
NO_REGISTER = phrases(
    "No need to book", "Just walk in", "Come without signing up", "Registration: not required",
    "No registration needed", "You need not announce yourself", "There is no list to put your name on",
    "Turn up on the spur of the moment", "Entry without prior booking", "Sign-up: not necessary",
    "Nobody has to reserve anything", "Places are not reserved",
)  # fmt: skip
OTHER_DAY = phrases(
    "The exhibition next door runs until {d}", "Last season closed on {d}", "The house was reopened on {d}",
    "Programme printed {d}", "Newsletter of {d}", "Price list as of {d}", "Café menu valid until {d}",
    "Brochure dated {d}", "Flea market next door on {d}", "Annual meeting of the members: {d}",
    "Parking permits expire on {d}", "Voucher valid until {d}",
)  # fmt: skip
PRICE = phrases(
    "admission {a}", "tickets {a}", "full price {a}", "regular ticket {a}", "standard ticket {a}",
    "price of admission: {a}", "entrance fee {a}", "normal price {a}", "a full ticket is {a}",
    "ticket at the normal rate {a}", "full admission: {a}", "entry costs {a}",
)  # fmt: skip
REDUCED = phrases(
    "students {a}", "reduced {a}", "members pay {a}", "with the city card {a}", "reduced ticket {a}",
    "discounted admission {a}", "for card holders {a}", "job seekers {a}", "cheaper rate for club members {a}",
    "lower price for members {a}", "with a discount {a}", "concession {a}",
)  # fmt: skip
FREE = phrases(
    "admission is free", "entry costs nothing", "no ticket is needed", "no admission is charged", "free of charge",
    "admission: free", "you pay nothing to get in", "entry is at no cost", "the host asks no money for entry",
    "there is no entrance fee", "not a penny is charged for entry", "it is free for all",
)  # fmt: skip
OTHER_SUM = phrases(
    "programme booklet {a}", "a meal costs {a}", "parking {a}", "shuttle bus {a}", "drinks from {a}", "catalogue {a}",
    "poster {a}", "tour of the old town {a}", "lunch bag {a}", "bicycle hire {a}", "souvenir mug {a}", "cloakroom {a}",
)  # fmt: skip
SEATS = phrases(
    "{n} seats", "room for {n}", "capacity {n}", "places for {n} people", "number of places: {n}",
    "space for {n} guests", "at most {n} visitors", "limited to {n} participants", "holds {n} people",
    "maximum number of guests: {n}", "no more than {n} can attend", "up to {n} guests",
)  # fmt: skip
OTHER_COUNT = phrases(
    "{n} minutes from the station", "bus line {n}", "our {n}th season", "{n} minutes on foot from the centre",
    "tram line {n}", "the {n}th edition", "bus stop {n} is nearest", "{n} sponsors support us",
    "staffed by {n} volunteers", "ferry pier {n}", "{n} helpers look after you", "now in its {n}th year",
)  # fmt: skip
SLOT = phrases(
    "{what} ({who})", "{who}: {what}", "{what} with {who}", "{what} - {who}", "{what} | {who}", "{what}, by {who}",
    "{what}, led by {who}", "* {what}: {who}", '- {who} with "{what}"', "{who} is in charge of {what}",
    "{what} / {who}", "{who} presents {what}",
)  # fmt: skip
SLOTS_HEAD = phrases(
    "Programme", "On the bill:", "Parts of the event:", "Running order:", "Contents:", "What is on:",
    "The parts and the people:", "List of items:", "Line-up:", "Our programme in detail:", "Who does what:",
    "What awaits you:",
)  # fmt: skip
PARTS = phrases(
    "Tide tables", "First steps", "Voices of the yard", "A short history", "Round table", "Colour lab", "Late set",
    "Kitchen tales", "Iron songs", "Listening hour", "Open questions", "Field notes", "Hidden corners", "Loose threads",
    "Old recipes", "Second glance", "The red suitcase", "Northern echoes", "Under the bark", "Paper boats",
    "Between the lines", "Quiet engines", "Lost and found", "Rough edges", "Warm hands", "Borrowed words",
    "The long way round", "Salt crust", "Fresh paint", "Soft landing", "Hollow trees", "Copper rain", "Half a map",
    "Slow machines", "The missing page", "Riddles in chalk", "Blue hour", "Dust and light", "Small wonders", "Encore",
)  # fmt: skip
LINK = phrases(
    "Tickets: {u}", "Book at {u}", "Reservation page: {u}", "Book online: {u}", "Tickets can be had at {u}",
    "Online booking: {u}", "Reserve here: {u}", "To the ticket shop: {u}", "Secure your place: {u}",
    "Ticket office on the web: {u}", "Places can be booked at {u}", "Get your place at {u}",
)  # fmt: skip
OTHER_LINK = phrases(
    "Pictures: {u}", "How to find us: {u}", "Archive: {u}", "Directions: {u}", "Photo gallery: {u}", "Past events: {u}",
    "About the house: {u}", "Press material: {u}", "Map of the area: {u}", "Looking back on last year: {u}",
    "Getting here: {u}", "Our newsletter: {u}",
)  # fmt: skip
LAYOUTS = phrases(
    "{title}\n{house}, {city}\n{times}\n\n{story}\n\n{prices}.\n{counts}.\n{slots}\n\n{link}\n{other_link}\nHosted by {host}. Questions to {mail}",
    "{host} invites you to {title}. {story}\n\n{times_inline}. {prices}.\nWhere: {house} in {city} ({counts})\n\n{slots}\n\nPress: {other_mail}\nGuests: {mail}\n{other_link}\n{link}",
    "Subject: {title}\nFrom: {other_mail}\n\nDear friends,\n\n{times_inline}. Our place is the {house} in {city}. {story} {prices}; {counts}.\n\n{slots}\n\n{link}\nPlease answer to {mail}, not to this address.\n{host}",
    "{other_link}\n{times}\nWhat: {title}\nWhere: {house}, {city}\nWho: {host}\nCost: {prices}\nNote: {counts}\n{link}\n{slots}\n\n{story}\nContact: {mail} (technical matters {other_mail})",
    "{story}\n\nThat is {title}, brought to the {house} of {city} by {host}. {counts}; {prices}. {times_inline}.\n{slots}\n{link}\n\nAdvertising: {other_mail}\nVisitors: {mail}",
    "{city} | {house} | {title}\n\n{prices}\n{counts}\n{times}\n\n{slots}\n\n{story} Organiser: {host}, {mail}.\n{other_link}\n{link}",
    "EVENT NOTICE\nTitle: {title}\nVenue: {house}\nCity: {city}\nOrganiser: {host}\nContact for guests: {mail}\nContact for the press: {other_mail}\n\n{times}\n\n{story}\n\n{prices}.\n{counts}.\n{slots}\n{link}\n{other_link}",
    "Subject: Invitation to {title}\n\nHello,\n\non behalf of {host} we invite you to the {house} in {city}. {story}\n\n{times_inline}. {counts}. {prices}.\n\n{slots}\n{link}\n{other_link}\n\nGuests with questions write to {mail}; reporters write to {other_mail}.",
    "| Event | {title} |\n| Venue | {house} |\n| City | {city} |\n| Host | {host} |\n| Mail for visitors | {mail} |\n| Mail for suppliers | {other_mail} |\n\n{times}\n{prices}.\n{counts}.\n\n{story}\n\n{slots}\n\n{link}\n{other_link}",
    "{title}\n\n* {story}\n* {times_inline}.\n* {prices}.\n* {counts}.\n* Venue: {house}, {city}\n* Host: {host}\n\n{slots}\n\n{other_link}\n{link}\nSponsors turn to {other_mail}, guests to {mail}",
    "In {city} the team of the {house} is getting ready for {title}, which {host} organises. {story} {times_inline}. {prices}. {counts}.\n{slots}\n{link}\n\nThe crew's own mailbox is {other_mail}; questions from guests are answered at {mail}.\n{other_link}",
    "{house}, {city}: {title}. Organised by {host}. {times_inline}. {counts}. {prices}. {story}\n{slots}\n{link}\n{other_link}\nMail for guests {mail}, for job applicants {other_mail}",
    "{host}\nPress office: {other_mail}\n\nGood day,\n\nwe would like to see you at {title}. The venue is the {house} in {city}. {story}\n\n{counts}. {prices}.\n\n{times}\n\n{slots}\n\n{other_link}\n{link}\n\nIf you want to come and have a question, write to {mail}.",
    "What you need to know about {title}\n\nWhere? {house}, {city}\nWho invites? {host}\nWhom do guests ask? {mail} (exhibitors: {other_mail})\nHow much? {prices}.\n\n{counts}.\n{times}\n\n{story}\n\n{link}\n{other_link}\n{slots}",
    "Come to the {house} in {city}!\n\n{times}\n\n{title}. {story}\n{slots}\n\n{counts}. {prices}.\n\n{host}\nGuests write to {mail}, journalists to {other_mail}\n{link}\n{other_link}",
    "{host} presents\n{title}\n\n{slots}\n\n{prices}. {story} {counts}.\n{times_inline}.\n\n{house}, {city}\n{other_link}\n{link}\nSponsors: {other_mail}\nVisitors: {mail}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw an event."""
    audience, form = draw.one(tuple(AUDIENCES)), draw.one(tuple(FORMS))
    outside, steps = draw.chance(0.5), draw.one((True, False, None))
    for key, value in (("audience", audience), ("form", form), ("outside", outside), ("wheelchair", steps)):
        draw.know(key, value)
    title, house, city, host = draw.wording(TITLES), draw.wording(HOUSES), draw.fresh(words.CITIES), draw.company()
    contact, press = draw.person(), draw.person()
    draw.know(
        "summary",
        f"{title} is {'an outdoor' if outside else 'an indoor'} {form} for {audience} in {city}, hosted by {host}.",
    )
    story = [draw.phrase(AUDIENCES[audience]), draw.phrase(FORMS[form]), draw.phrase(OUTSIDE[outside])]
    if steps is not None:
        story.append(draw.phrase(STEPS[steps]))
    times = _times(draw)
    site = f"https://{house.lower().replace(' ', '-').replace(chr(39), '')}.example"
    return {
        "title": draw.say("title", title),
        "house": draw.say("house", house),
        "city": draw.say("city", city),
        "host": draw.say("host", host),
        "mail": draw.say("mail", contact.email),
        "other_mail": press.email,
        "story": join(" ", draw.shuffled(story)),
        "times": join("\n", times),
        "times_inline": join("; ", times),
        "prices": _prices(draw),
        "counts": _counts(draw),
        "slots": _slots(draw),
        "link": draw.maybe(
            0.6, "link", lambda: draw.phrase(LINK, u=draw.say("link", f"{site}/{draw.rng.randrange(100, 999)}"))
        ),
        "other_link": draw.phrase(OTHER_LINK, u=f"{site}/{draw.one(('photos', 'map', 'past', 'news'))}"),
    }


def _times(draw: Draw) -> Sequence[Part]:
    starts = draw.phrase(STARTS, d=draw.say_moment("starts", draw.moment(draw.day(25, 60))))
    doors = draw.phrase(DOORS, d=draw.print_moment(draw.moment(draw.day(2, 20)))) if draw.chance(0.6) else ""
    other = draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-90, 90)))
    sign_up = draw.maybe(
        0.6,
        "register",
        lambda: draw.phrase(REGISTER, d=draw.say_day("register", draw.day(3, 22))),
        draw.phrase(NO_REGISTER),
    )
    return draw.shuffled([starts, doors or other, sign_up])


def _prices(draw: Draw) -> Part:
    """Full and reduced price, or none, beside a price that is not for admission."""
    other = draw.phrase(OTHER_SUM, a=draw.money(draw.cents(2, 25)))
    if draw.chance(0.3):
        draw.know("price", None)
        draw.know("reduced", None)
        return capitalised(join(", ", draw.shuffled([draw.phrase(FREE), other])))
    full = draw.rng.randrange(18, 120) * 50
    price = draw.phrase(PRICE, a=draw.say_money("price", full))
    reduced = draw.maybe(0.6, "reduced", lambda: draw.phrase(REDUCED, a=draw.say_money("reduced", full * 6 // 10)))
    return capitalised(join(", ", draw.shuffled([other, price, reduced])))


def _counts(draw: Draw) -> Part:
    other = draw.phrase(OTHER_COUNT, n=str(draw.rng.randrange(4, 20)))
    seats = draw.maybe(0.6, "seats", lambda: draw.phrase(SEATS, n=draw.say("seats", draw.rng.randrange(20, 400))))
    return capitalised(join(", ", draw.shuffled([other, seats])))


def _slots(draw: Draw) -> Part:
    count = draw.one((0, 1, 2, 2, 3))
    draw.know("slots", count)
    if not count:
        return ""
    form = draw.wording(SLOT)
    lines = [
        template(form, what=draw.say(f"slots/{i}/what", part), who=draw.say(f"slots/{i}/who", draw.person().full))
        for i, part in enumerate(draw.several(PARTS, count))
    ]  # fmt: skip
    return join("\n", [draw.phrase(SLOTS_HEAD), *lines])


VARIANTS = {
    "calendar": s.group(
        {
            "title": s.text("title"),
            "starts_at": s.moment("starts"),
            "venue": s.text("house"),
            "city": s.text("city"),
            "format": s.choice("form", {k: k for k in FORMS}),
            "outdoors": s.yes_no("outside"),
            "price": s.core(s.number("price", "Full price of admission; null when free.", null=True)),
            "reduced_price": s.number("reduced", null=True),
            "ticket_url": s.text("link", "Page that sells or reserves places.", null=True, format="uri"),
            "programme": s.items("slots", s.group({"part": s.text("what"), "speaker": s.text("who")})),
            "summary": s.written("summary", "One sentence: what kind of event, for whom, where and by whom."),
        }
    ),
    "booking": s.group(
        {
            "event": s.text("title"),
            "organiser": s.group({"name": s.text("host"), "email": s.text("mail", "For guests.", format="email")}),
            "begin": s.moment("starts", "When the event itself begins."),
            "register_until": s.day("register", null=True),
            "seats": s.core(s.integer("seats", "How many guests there is room for.", null=True)),
            "audience": s.choice(
                "audience",
                {
                    "children": ("kids", "Children only."),
                    "professionals": ("trade", "People of the profession."),
                    "everyone": ("public", "Anybody."),
                },
            ),
            "wheelchair_access": s.yes_no("wheelchair", "Null when not stated.", null=True),
            "booking_page": s.text("link", optional=True, format="uri"),
            "acts": s.items("slots", s.text("who"), "People on the programme."),
        }
    ),
    "guide": s.group(
        {
            "name": s.text("title", "Title of the event."),
            "place": s.text("house"),
            "host": s.text("host"),
            "contact": s.text("mail", format="email"),
            "admission": s.core(s.number("price", optional=True)),
            "sign_up_by": s.core(s.day("register", optional=True)),
            "capacity": s.integer("seats", optional=True),
            "for_whom": s.choice("audience", {k: k for k in AUDIENCES}),
            "kind": s.choice("form", {"concert": "music", "talk": "speech", "workshop": "hands-on"}),
            "setting": s.choice("outside", {True: "open air", False: "indoors"}),
            "sessions": s.items("slots", s.group({"title": s.text("what"), "person": s.text("who")}), most=6),
            "blurb": s.written("summary", "One sentence: what kind of event, for whom, where and by whom."),
        }
    ),
}  # fmt: skip
EVENT = Kind("event", LAYOUTS, compose, VARIANTS)
