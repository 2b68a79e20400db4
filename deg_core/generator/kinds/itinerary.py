"""Travel itineraries (never in training): legs, fares, and what the ticket allows."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator import vocabulary as words
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, join, template
from deg_core.generator.vocabulary import phrases

MEANS = {
    "train": phrases("You travel on rails, so be on the platform early.", "Your seat is in carriage nine.", "The conductor checks your code on board."),
    "flight": phrases("Security control closes early, so leave time for it.", "Your boarding pass opens a day before.", "Liquids go in a clear bag in your hand luggage."),
    "ferry": phrases("Cabins are on deck five.", "In rough sea the crossing may be late.", "Cars roll aboard an hour before we cast off."),
}  # fmt: skip
REFUND = {
    True: phrases("You can cancel and get all of your money back.", "If plans change, the fare is returned in full.", "Giving the ticket back costs nothing."),
    False: phrases("Once booked, the fare is lost if you stay at home.", "No money is returned for unused tickets.", "The ticket can be neither changed nor given back."),
}  # fmt: skip
INSURED = {
    True: phrases("A travel insurance is part of the package.", "You are covered against illness abroad.", "Your trip is insured."),
    False: phrases("You declined the insurance.", "No cover has been bought.", "The trip is not insured."),
}  # fmt: skip
COMFORT = {
    1: phrases("You share a bench in the simplest class.", "There is no table and no meal in this class."),
    2: phrases("You have a reserved seat in the middle class.", "A drink and some room for the knees are included."),
    3: phrases("You have a bed, a bath and a waiter of your own.", "The best class with dinner and lounge is yours."),
}  # fmt: skip
COMFORT_LEVELS = {1: "basic", 2: "medium", 3: "luxury"}
BOOKED = phrases("Booked {d}", "Reservation made on {d}", "Ordered {d}")
PAY_BY = phrases("Pay by {d}", "Payment is due {d}", "Held for you until {d}")
OTHER_DAY = phrases("Passport valid until {d}", "Timetable of {d}", "Last trip with us {d}", "Account opened {d}")
FARE = phrases("Fare in all {a}", "The whole trip costs {a}", "Total price {a}")
OTHER_SUM = phrases(
    "a bag costs {a} more",
    "the same trip in summer was {a}",
    "a voucher of {a} can be used next time",
    "the fee for changes is {a}",
)
BAGS = phrases("{n} kg of luggage", "luggage up to {n} kg", "baggage allowance {n} kg")
LEG = phrases("{a} to {b}, {d}", "{d}: {a} - {b}", "from {a} to {b} on {d}")
LAYOUTS = phrases(
    "BOOKING {code}\nTraveller: {name}\nAgency: {agency}\n{dates}\n\n{legs}\n\n{story}\n{sums}. {bags}\nMail: {mail}; agency desk: {other_mail}",
    "Dear {name},\n\nthank you for travelling with {agency}. {story}\n\n{legs}\n\n{dates_inline}. {sums}. {bags}\n\nYour code is {code}. We write to you at {mail}; you reach us at {other_mail}.",
    "From: {other_mail}\nTo: {mail}\nSubject: Your trip\n\n{dates_inline}. {sums}.\n\n{legs}\n\n{story} {bags}\n\n{agency} for {name}, code {code} (earlier {other_code})",
    "{agency}\n{sums}\n{dates}\nEarlier code: {other_code}\nValid code: {code}\nName: {name}\nAddress: {mail}\n\n{legs}\n\n{bags}\n{story}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a trip."""
    means, comfort = draw.one(tuple(MEANS)), draw.one((1, 2, 3))
    refund, insured = draw.chance(0.5), draw.one((True, False, None))
    for key, value in (("means", means), ("comfort", comfort), ("refund", refund), ("insured", insured)):
        draw.know(key, value)
    traveller, clerk, agency = draw.person(), draw.person(), draw.company()
    code, other_code = draw.several_codes(draw.one(("TR", "K-", "Z9")), 2)
    draw.know(
        "summary",
        f"{traveller.full} travels by {means} in {COMFORT_LEVELS[comfort]} comfort on a {'refundable' if refund else 'non-refundable'} ticket.",
    )
    story = [draw.phrase(MEANS[means]), draw.phrase(REFUND[refund]), draw.phrase(COMFORT[comfort])]
    story += [draw.phrase(INSURED[insured])] if insured is not None else []
    dates = _dates(draw)
    fare = draw.phrase(FARE, a=draw.say_money("fare", draw.cents(60, 1900)))
    other_sum = draw.phrase(OTHER_SUM, a=draw.money(draw.cents(10, 1900)))
    bags = draw.maybe(0.6, "bags", lambda: draw.phrase(BAGS, n=draw.say("bags", draw.rng.randrange(12, 40))))
    return {
        "code": draw.say("code", code),
        "other_code": other_code,
        "name": draw.say("name", traveller.full),
        "mail": draw.say("mail", traveller.email),
        "other_mail": clerk.email,
        "agency": draw.say("agency", agency),
        "story": join(" ", draw.shuffled(story)),
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "sums": join("; ", draw.shuffled([fare, other_sum])),
        "bags": template("{b}.", b=bags) if bags else "",
        "legs": _legs(draw),
    }


def _dates(draw: Draw) -> Sequence[Part]:
    booked = draw.phrase(BOOKED, d=draw.say_day("booked", draw.today))
    pay_by = draw.maybe(0.6, "pay_by", lambda: draw.phrase(PAY_BY, d=draw.say_day("pay_by", draw.day(5, 18))))
    return draw.shuffled([booked, pay_by, draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-400, 900)))])


def _legs(draw: Draw) -> Part:
    """One to three legs, each starting where the last one ended."""
    count = draw.one((1, 2, 2, 3))
    draw.know("legs", count)
    form = draw.wording(LEG)
    cities = draw.several(words.CITIES, count + 1)
    lines = []
    for i in range(count):
        start, end = draw.say(f"legs/{i}/from", cities[i]), draw.say(f"legs/{i}/to", cities[i + 1])
        lines.append(
            template(
                form, a=start, b=end, d=draw.say_moment(f"legs/{i}/at", draw.moment(draw.day(25 + 6 * i, 30 + 6 * i)))
            )
        )
    return join("\n", lines)


VARIANTS = {
    "trip": s.group(
        {
            "booking_code": s.text("code", "Code that is valid now."),
            "traveller": s.text("name"),
            "email": s.text("mail", "Address of the traveller.", format="email"),
            "means": s.choice("means", {k: k for k in MEANS}),
            "refundable": s.yes_no("refund"),
            "insured": s.yes_no("insured", null=True),
            "total_fare": s.number("fare"),
            "luggage_kg": s.number("bags", null=True),
            "booked_on": s.day("booked"),
            "legs": s.items("legs", s.group({"from": s.text("from"), "to": s.text("to"), "departs": s.moment("at")})),
            "summary": s.written("summary", "One sentence: who travels how, in what comfort, on which kind of ticket."),
        }
    ),
    "expenses": s.group(
        {
            "employee": s.text("name", "Who travels."),
            "vendor": s.text("agency"),
            "reference": s.text("code"),
            "cost": s.number("fare", "Price of the whole trip."),
            "pay_before": s.day("pay_by", optional=True),
            "order_date": s.day("booked"),
            "mode": s.choice("means", {"train": ("rail", "By train."), "flight": ("air", "By plane."), "ferry": ("sea", "By ship.")}),
            "comfort": s.scale("comfort", 1, 3, levels=COMFORT_LEVELS),
            "baggage": s.integer("bags", "Luggage allowed, in kilograms.", optional=True),
            "stops": s.items("legs", s.text("to"), "Where each leg ends."),
        }
    ),
}  # fmt: skip
ITINERARY = Kind("itinerary", LAYOUTS, compose, VARIANTS)
