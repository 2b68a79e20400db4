"""Event notices: when it starts, what it costs whom, and for whom it is meant."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator import vocabulary as words
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

TITLES = phrases("Night of the Lanterns", "Small Boats, Big Sea", "Bread and Bones", "Winter Strings", "The Quiet Forest", "Maps of Tomorrow", "Salt and Smoke", "Open Looms",
                 "Clay for Beginners", "Songs of the Canal", "Bees in the City", "Paper Moons", "The Long Table", "Rust and Colour", "Stars over the Mill", "Ink and Iron")  # fmt: skip
HOUSES = phrases("Old Granary", "Town Library", "Foundry Hall", "Seaman's Chapel", "Botanical House", "Glass Pavilion", "Corn Exchange", "Tram Depot", "Water Tower", "Linen Mill",
                 "Customs House", "Brick Works")  # fmt: skip
AUDIENCES = {
    "children": phrases("Made for those between six and ten, while parents wait outside.", "Pupils of the lower classes are the guests.", "Little ones may paint and shout as they like.",
                        "It is for boys and girls who have just learned to read.", "Only those under twelve may take part."),
    "professionals": phrases("Aimed at people who do this for a living.", "Bring your business cards, as the trade meets here.", "We expect you to know the regulations of your industry.",
                             "The talks are meant for practitioners and count as further training.", "Colleagues from the branch exchange their figures."),
    "everyone": phrases("From grandmother to toddler, all are welcome.", "No age limit and no previous knowledge.", "Whoever you are, come along.",
                        "Neighbours, tourists, families: the door is open.", "Young and old will find something."),
}  # fmt: skip
FORMS = {
    "concert": phrases("A quartet plays for ninety minutes.", "You will hear three choirs.", "The band brings its new songs.", "An evening with piano and voice.", "Two fiddlers and a drum fill the room."),
    "talk": phrases("An author speaks and takes questions.", "A researcher explains her findings with slides.", "You will listen to a lecture of an hour.", "A panel debates and you may join in.",
                    "Our guest tells how it all began."),
    "workshop": phrases("You make your own piece and take it home.", "Aprons are provided, as hands get dirty.", "In groups of six you try the tools yourselves.", "You learn by doing, step by step.",
                        "Bring old clothes, because you will work with the material."),
}  # fmt: skip
OUTSIDE = {
    True: phrases("We sit under the trees, so bring a coat.", "In rain it is called off, for there is no roof.", "The stage stands on the lawn.", "It happens in the open air."),
    False: phrases("The room is heated.", "All of it takes place under a roof.", "Rain need not worry you, since we are inside.", "Cloakroom and bar are in the building."),
}  # fmt: skip
STEPS = {
    True: phrases("Wheelchairs reach every seat.", "There is a ramp and a wide door.", "The way in has no steps.", "Seats for wheelchair users are kept free."),
    False: phrases("Sadly the steep stairs cannot be avoided.", "Wheelchairs do not fit through the door.", "The only way in is a spiral staircase.", "There is no access without steps."),
}  # fmt: skip
STARTS = phrases("Start: {d}", "It begins {d}", "Curtain up {d}", "We start on {d}", "Opening words {d}")
DOORS = phrases(
    "Box office from {d}",
    "Ticket sale since {d}",
    "Rehearsal: {d}",
    "Press preview {d}",
    "Stage set up {d}",
)
REGISTER = phrases(
    "Sign up by {d}",
    "Book before {d}",
    "Registration closes {d}",
    "Places can be reserved until {d}",
    "Last day to register: {d}",
)
NO_REGISTER = phrases("No need to book", "Just walk in", "Come without signing up", "Places are not reserved")
OTHER_DAY = phrases(
    "The exhibition next door runs until {d}",
    "Last season closed on {d}",
    "The house was reopened on {d}",
    "Programme printed {d}",
    "Voucher valid until {d}",
)
PRICE = phrases("admission {a}", "tickets {a}", "full price {a}", "regular ticket {a}", "entry costs {a}")
REDUCED = phrases("students {a}", "reduced {a}", "members pay {a}", "with the city card {a}", "concession {a}")
FREE = phrases("admission is free", "entry costs nothing", "no ticket is needed", "it is free for all")
OTHER_SUM = phrases("programme booklet {a}", "a meal costs {a}", "parking {a}", "shuttle bus {a}", "cloakroom {a}")
SEATS = phrases("{n} seats", "room for {n}", "capacity {n}", "places for {n} people", "up to {n} guests")
OTHER_COUNT = phrases("{n} minutes from the station", "bus line {n}", "our {n}th season", "now in its {n}th year")
SLOT = phrases("{what} ({who})", "{who}: {what}", "{what} with {who}", "{what} - {who}", "{who} presents {what}")
SLOTS_HEAD = phrases("Programme", "On the bill:", "Parts of the event:", "What awaits you:")
PARTS = phrases("Tide tables", "First steps", "Voices of the yard", "A short history", "Round table", "Colour lab", "Late set", "Kitchen tales", "Iron songs", "Listening hour",
                "Open questions", "Field notes", "Blue hour", "Dust and light", "Small wonders", "Encore")  # fmt: skip
LINK = phrases("Tickets: {u}", "Book at {u}", "Reservation page: {u}", "Get your place at {u}")
OTHER_LINK = phrases("Pictures: {u}", "How to find us: {u}", "Archive: {u}", "Our newsletter: {u}")
LAYOUTS = phrases(
    "{title}\n{house}, {city}\n{times}\n\n{story}\n\n{prices}.\n{counts}.\n{slots}\n\n{link}\n{other_link}\nHosted by {host}. Questions to {mail}",
    "{host} invites you to {title}. {story}\n\n{times_inline}. {prices}.\nWhere: {house} in {city} ({counts})\n\n{slots}\n\nPress: {other_mail}\nGuests: {mail}\n{other_link}\n{link}",
    "Subject: {title}\nFrom: {other_mail}\n\nDear friends,\n\n{times_inline}. Our place is the {house} in {city}. {story} {prices}; {counts}.\n\n{slots}\n\n{link}\nPlease answer to {mail}, not to this address.\n{host}",
    "{other_link}\n{times}\nWhat: {title}\nWhere: {house}, {city}\nWho: {host}\nCost: {prices}\nNote: {counts}\n{link}\n{slots}\n\n{story}\nContact: {mail} (technical matters {other_mail})",
    "{story}\n\nThat is {title}, brought to the {house} of {city} by {host}. {counts}; {prices}. {times_inline}.\n{slots}\n{link}\n\nAdvertising: {other_mail}\nVisitors: {mail}",
    "{city} | {house} | {title}\n\n{prices}\n{counts}\n{times}\n\n{slots}\n\n{story} Organiser: {host}, {mail}.\n{other_link}\n{link}",
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
