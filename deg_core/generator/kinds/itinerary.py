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
    "train": phrases(
        "You travel on rails, so be on the platform early.",
        "Your seat is in carriage nine.",
        "Means of travel: train.",
        "The whole way goes by rail.",
        "The express will not wait, so find your platform in good time.",
        "Letters along the track show where your carriage will stop.",
        "The railway takes you all the way.",
        "The conductor checks your code on board.",
    ),
    "flight": phrases(
        "Security control closes early, so leave time for it.",
        "Your boarding pass opens a day before.",
        "Means of travel: plane.",
        "You go by air throughout.",
        "Fasten your belt for take-off and landing.",
        "Turn your phone off before we leave the ground.",
        "An aeroplane takes you all the way.",
        "Liquids go in a clear bag in your hand luggage.",
    ),
    "ferry": phrases(
        "Cabins are on deck five.",
        "In rough sea the crossing may be late.",
        "Means of travel: ship.",
        "You cross the water by ferry.",
        "Life jackets are handed out on deck.",
        "The harbour pilot decides when we may put to sea.",
        "A boat takes you all the way.",
        "Cars roll aboard an hour before we cast off.",
    ),
}  # fmt: skip
REFUND = {
    True: phrases(
        "You can cancel and get all of your money back.",
        "If plans change, the fare is returned in full.",
        "Refundable: yes.",
        "The ticket can be returned for a full refund.",
        "Should you stay at home, you will get back what you paid.",
        "Whatever your reason for cancelling, we send the whole price back.",
        "Changed your mind? Every penny comes back to you.",
        "Giving the ticket back costs nothing.",
    ),
    False: phrases(
        "Once booked, the fare is lost if you stay at home.",
        "No money is returned for unused tickets.",
        "Refundable: no.",
        "This is a non-refundable fare.",
        "Think twice before you pay, for we keep the money whatever happens.",
        "Cancelling is allowed, but it brings you nothing back.",
        "What you have paid stays with us even if you cancel.",
        "The ticket can be neither changed nor given back.",
    ),
}  # fmt: skip
INSURED = {
    True: phrases(
        "A travel insurance is part of the package.",
        "You are covered against illness abroad.",
        "Travel insurance: yes.",
        "You have taken out cover for this journey.",
        "If you fall ill on the way, your insurer pays the doctor.",
        "The policy that protects you on this trip is attached.",
        "The premium for your travel cover has been paid.",
        "Your trip is insured.",
    ),
    False: phrases(
        "You declined the insurance.",
        "No cover has been bought.",
        "Travel insurance: no.",
        "You travel without insurance.",
        "If you fall ill on the way, no insurer will pay the doctor.",
        "The box for the insurance was left unticked.",
        "This booking comes without any travel cover.",
        "The trip is not insured.",
    ),
}  # fmt: skip
COMFORT = {
    1: phrases(
        "You share a bench in the simplest class.",
        "Comfort: basic.",
        "You have chosen the plainest class of all.",
        "Bring a cushion and your own sandwiches, for nothing is provided.",
        "The seats are narrow and hard.",
        "Expect a bare seat and no service.",
        "This is the class without frills.",
        "There is no table and no meal in this class.",
    ),
    2: phrases(
        "You have a reserved seat in the middle class.",
        "Comfort: medium.",
        "You travel in the class between the plainest and the best.",
        "The seat is padded and a snack is served, but do not expect a lounge.",
        "It is neither the bare bench nor the grand suite.",
        "Your class is the middle one of three, with a soft seat and a cup of coffee.",
        "Comfort is fair: better than the lowest class, short of the highest.",
        "A drink and some room for the knees are included.",
    ),
    3: phrases(
        "You have a bed, a bath and a waiter of your own.",
        "Comfort: luxury.",
        "Nothing finer than your class is sold on this route.",
        "Champagne and a private suite await you.",
        "A chef cooks for you, and a steward makes your bed.",
        "You will be pampered from start to finish in the top class.",
        "You travel in the greatest luxury that we offer.",
        "The best class with dinner and lounge is yours.",
    ),
}  # fmt: skip
COMFORT_LEVELS = {1: "basic", 2: "medium", 3: "luxury"}
BOOKED = phrases(
    "Booked {d}",
    "Reservation made on {d}",
    "Date of booking: {d}",
    "You booked this trip {d}",
    "Order taken {d}",
    "Booking entered {d}",
    "Your order came in {d}",
    "Ordered {d}",
)
PAY_BY = phrases(
    "Pay by {d}",
    "Payment is due {d}",
    "Last day for payment: {d}",
    "Please settle the bill by {d}",
    "Your money must reach us by {d}",
    "Deadline for paying {d}",
    "To be paid no later than {d}",
    "Held for you until {d}",
)
OTHER_DAY = phrases(
    "Passport valid until {d}",
    "Timetable of {d}",
    "Last trip with us {d}",
    "Terms of carriage as of {d}",
    "Loyalty card expires {d}",
    "Price list of {d}",
    "Brochure printed {d}",
    "Account opened {d}",
)
FARE = phrases(
    "Fare in all {a}",
    "The whole trip costs {a}",
    "Total fare: {a}",
    "Price of all legs together {a}",
    "You pay {a} for the entire journey",
    "Amount due for the complete trip: {a}",
    "In all we charge {a} for the journey",
    "Total price {a}",
)
OTHER_SUM = phrases(
    "a bag costs {a} more",
    "the same trip in summer was {a}",
    "a voucher of {a} can be used next time",
    "a pet costs {a} more",
    "the hotel at the end of the trip asks a deposit of {a}",
    "a travel guide can be had for {a}",
    "other travellers paid {a} on average",
    "the fee for changes is {a}",
)
BAGS = phrases(
    "{n} kg of luggage",
    "luggage up to {n} kg",
    "you may bring {n} kg of baggage",
    "luggage allowed: {n} kg",
    "bags of {n} kg in all may come along",
    "free baggage {n} kg",
    "suitcases weighing no more than {n} kg",
    "baggage allowance {n} kg",
)
LEG = phrases(
    "{a} to {b}, {d}",
    "{d}: {a} - {b}",
    "{a} | {b} | {d}",
    "- {a} -> {b}: {d}",
    "leave {a} {d}, bound for {b}",
    "{d}, departure from {a} for {b}",
    "to {b}, coming from {a}, departure {d}",
    "from {a} to {b} on {d}",
)
LAYOUTS = phrases(
    "BOOKING {code}\nTraveller: {name}\nAgency: {agency}\n{dates}\n\n{legs}\n\n{story}\n{sums}. {bags}\nMail: {mail}; agency desk: {other_mail}",
    "Dear {name},\n\nthank you for travelling with {agency}. {story}\n\n{legs}\n\n{dates_inline}. {sums}. {bags}\n\nYour code is {code}. We write to you at {mail}; you reach us at {other_mail}.",
    "From: {other_mail}\nTo: {mail}\nSubject: Your trip\n\n{dates_inline}. {sums}.\n\n{legs}\n\n{story} {bags}\n\n{agency} for {name}, code {code} (earlier {other_code})",
    "Itinerary for {name}\nBooked through: {agency}\nBooking code: {code} (replaces {other_code})\nTraveller's e-mail: {mail}\nAgency's e-mail: {other_mail}\n\n{legs}\n\n{dates}\n{sums}\n{bags}\n\n{story}",
    "Traveller | {name}\nE-mail | {mail}\nAgency | {agency}\nMail of the agency | {other_mail}\nCode | {code}\nOld code, no longer valid | {other_code}\n\n{dates}\n\n{story}\n\n{legs}\n\n{sums}. {bags}",
    "{story} {agency} has arranged the following for {name}, who can be reached at {mail}:\n\n{legs}\n\n{dates_inline}. {sums}. {bags} Quote {code} in every question to {other_mail}; {other_code} no longer counts.",
    "{agency}, {other_mail}\n\nBooking {code}\n\nDear {name},\n\n{sums}. {bags} {dates_inline}.\n\n{legs}\n\n{story}\n\nA copy of this letter went to you at {mail}. Please forget the former code {other_code}.",
    "trip of {name}\n- code {code}, no longer {other_code}\n- {sums}. {bags}\n- {story}\n- sold by {agency}\n- mail to the traveller: {mail}, to the agency: {other_mail}\n\n{dates}\n\n{legs}",
    "To: {name} <{mail}>\nFrom: {agency} <{other_mail}>\nSubject: Booking {code}\n\n{legs}\n\n{dates_inline}. {story}\n\n{sums}. {bags} The old code {other_code} has lapsed.",
    "CONFIRMATION {code}\n\n{dates}\n\n{story}\n\n{legs}\n\n{sums}. {bags}\n\nPassenger: {name} ({mail})\nTravel agency: {agency} ({other_mail})\nFormer code: {other_code}",
    "{name} has a trip arranged by {agency}. The reference is {code}; an earlier one, {other_code}, was withdrawn.\n\n{legs}\n\n{story} {sums}. {bags}\n\n{dates}\n\nMail for {name} goes to {mail}, mail for the agency to {other_mail}.",
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
