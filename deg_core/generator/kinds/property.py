"""Property listings: one price among others, one area among others, and what state it is in."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join
from deg_core.generator.vocabulary import phrases

SORTS = {
    "flat": phrases("It lies on the third floor of a larger block.", "Eleven parties share the stairwell.", "You have neighbours above and below.", "One of eight units in the same building."),
    "house": phrases("It stands alone in its own garden.", "Two storeys, a roof and a fence that are all yours.", "A detached home for one family.", "No wall is shared with anyone."),
    "office": phrases("Twelve desks and a meeting room fit in.", "Filing shelves and phone booths await a law firm.", "Reception, server closet and open-plan floor are in place.", "It may be used for desk work only."),
    "farm": phrases("Stable and barn belong to it.", "Hay meadows surround the barn.", "Pasture begins behind the milking shed.", "Goats and an orchard belong with it."),
}  # fmt: skip
STATE = {
    1: phrases("Only the walls can be kept.", "It cannot be lived in as it is.", "The roof has fallen in and the floors are rotten."),
    2: phrases("Kitchen and bathroom have had their day.", "It needs new wiring and a good deal of paint.", "Much has to be renewed, though one can live there."),
    3: phrases("It is well kept and can be used at once.", "A few scratches are all that shows its age.", "Everything works and has been looked after."),
    4: phrases("Nobody has ever lived in it.", "The builders handed it over last month.", "It was finished only weeks ago and smells of fresh paint."),
}  # fmt: skip
STATE_LEVELS = {1: "ruin", 2: "needs work", 3: "well kept", 4: "brand new"}
QUIET = {
    True: phrases("You hear birds and little else.", "The street ends here, so hardly a car comes by.", "At night it is perfectly still.", "Woods on three sides swallow every sound."),
    False: phrases("Trams pass below the windows.", "A bar on the ground floor is open late.", "Lorries use the road day and night.", "The railway runs behind it."),
}  # fmt: skip
FURNISHED = {
    True: phrases("Beds, tables and lamps stay.", "You can move in with a suitcase, as all furniture is there.", "It comes with everything from sofa to spoon.", "The furniture is part of the offer."),
    False: phrases("The rooms are handed over empty.", "Bring your own furniture.", "Not so much as a chair remains.", "It comes bare."),
}  # fmt: skip
LIFT = {
    True: phrases("A lift goes to every floor.", "No stairs need be climbed, there is an elevator.", "The elevator was renewed.", "You ride up in a lift."),
    False: phrases("Only stairs lead up.", "There is no elevator.", "You climb on foot.", "A lift was never put in."),
}  # fmt: skip
PRICE = phrases("Price: {a}", "Asking price {a}", "It is on sale for {a}", "The owner wants {a}", "Offered at {a}")
OLD_PRICE = phrases(
    "first listed at {a}",
    "reduced from {a}",
    "last sold for {a}",
    "a neighbour's went for {a}",
    "the bank valued it at {a}",
)
CHARGE = phrases(
    "monthly charges {a}", "service charge {a} a month", "running costs of {a} monthly", "upkeep {a} per month"
)
AREA = phrases("{n} m² inside", "living space {n} m²", "floor area {n} m²", "interior of {n} m²")
OTHER_AREA = phrases("terrace {n} m²", "plot of {n} m²", "cellar {n} m²", "garage {n} m²")
BUILT = phrases("built in {n}", "year of construction {n}", "dating from {n}", "construction year {n}")
RENEWED = phrases("roof renewed in {n}", "windows of {n}", "heating from {n}", "last sold in {n}")
FREE = phrases("Free from {d}", "Available {d}", "To be handed over {d}", "Keys on {d}", "Can be taken over from {d}")
NO_FREE = phrases("Free by arrangement", "Date of handover open", "Handover to be agreed", "Availability on request")
VIEWING = phrases(
    "Viewing: {d}", "Come and see it {d}", "Open to visitors {d}", "You can look at it on {d}", "Inspection on {d}"
)
OTHER_DAY = phrases(
    "Listed {d}", "Energy certificate valid until {d}", "Advert renewed {d}", "Photos of {d}", "Mandate signed {d}"
)
FEATURES = phrases("bay window", "tiled stove", "wine cellar", "roof terrace", "sauna", "walk-in closet", "oak floor", "fireplace", "heat pump", "winter garden", "skylight", "guest toilet",
                   "solar roof", "pantry", "underfloor heating", "loggia")  # fmt: skip
WITH = phrases("It has: {list}.", "Highlights: {list}.", "You will also find: {list}.", "Extras: {list}.")
WITHOUT = phrases("Only the {x} is missing.", "A {x} could be added.", "The {x} was taken out.", "There is no {x}.")
LINK = phrases("Details: {u}", "Exposé: {u}", "More on this one: {u}", "Floor plan at {u}")
OTHER_LINK = phrases("All our offers: {u}", "About the agency: {u}", "Privacy: {u}", "Mortgage calculator: {u}")
LAYOUTS = phrases(
    "{address}\n{agency}, offer {ref}\n\n{story}\n\n{sums}.\n{areas}; {years}.\n{features}\n\n{dates}\n\nContact: {agent}, {mail}\n{other_link}\n{link}",
    "{dates}\nRef. {other_ref}, now {ref}\n\n{agency} offers: {address}. {story} {features}\n\n{areas}. {years}. {sums}.\n\nOffice: {other_mail}\nAgent: {agent}, {mail}\n{link}",
    "Subject: New offer {ref}\nFrom: {other_mail}\n\nHello,\n\nyou asked for news. {story}\n\nWhere: {address}\nSize: {areas}\nAge: {years}\nMoney: {sums}\n{dates}\n\n{features} Please write to {agent} ({mail}).\n{other_link}\n{link}\n{agency}",
    "Offer {ref} (formerly {other_ref})\n{years}\n{sums}\n{areas}\n{address}\n\n{features} {story}\n\n{dates_inline}.\n{agent} of {agency}: {mail}; secretary: {other_mail}\n{link}",
    "{other_link}\n\n{story} {years}; {areas}. The address is {address}.\n\n{features}\n{dates_inline}. {sums}.\n\n{agency}, {agent}\n{mail}\nNumber {ref}\n{link}",
    "Agency | {agency}\nSecretary | {other_mail}\nAgent | {agent}, {mail}\nObject | {address}\nNumber | {ref}\nDates | {dates_inline}\nSums | {sums}\nSize | {areas}\nYears | {years}\n\n{story}\n{features} {link}",
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
