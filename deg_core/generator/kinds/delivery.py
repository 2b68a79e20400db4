"""Delivery notes (never in training): what arrived, when, how heavy and in what state."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator import vocabulary as words
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

STATES = {
    "intact": phrases("Every box was dry, closed and without a dent.", "Nothing was wrong with the load.", "All was as it should be."),
    "damaged": phrases("Two boxes were crushed and their contents broken.", "Water had soaked the lower layer.", "A fork had pierced the side and spoilt what was within."),
    "incomplete": phrases("One carton on the list was not on the pallet.", "Fewer boxes came than were announced.", "A part of the load had been left at the depot."),
}  # fmt: skip
SIGNED = {
    True: phrases("The storeman put his name under the note.", "Receipt was confirmed in writing.", "The note bears the customer's signature."),
    False: phrases("Nobody would sign for it.", "The line for the signature is empty.", "It was left without a signature."),
}  # fmt: skip
COLD = {
    True: phrases("The load had to stay below five degrees.", "It travelled in a refrigerated van.", "Cooling was kept up all the way."),
    False: phrases("No cooling was needed.", "It travelled in an ordinary van without refrigeration.", "Temperature did not matter for these goods."),
}  # fmt: skip
HURRY = {
    1: phrases("It can be unpacked when there is time.", "The goods are only for the reserve."),
    2: phrases("Please shelve it within the week.", "The shelves should be filled in a few days."),
    3: phrases("Unpack at once, production waits for it.", "The line stops tonight without these parts."),
}  # fmt: skip
HURRY_LEVELS = {1: "low", 2: "normal", 3: "high"}
SENT = phrases("Dispatched {d}", "Left our depot {d}", "Shipped on {d}")
ARRIVED = phrases("Arrived {d}", "Handed over on {d}", "Received at the ramp {d}")
OTHER_DAY = phrases("Ordered {d}", "Return possible until {d}", "Announced for {d}", "Form printed {d}")
WEIGHT = phrases("gross weight {n} kg", "weight in all {n} kg", "total {n} kg")
OTHER_WEIGHT = phrases("pallet itself {n} kg", "limit of the lift {n} kg", "heaviest box {n} kg")
FEE = phrases("Carriage {a}.", "Cost of the transport: {a}.", "The haul is charged at {a}.")
OTHER_SUM = phrases("Goods are insured for {a}.", "Deposit for the pallet {a}.", "Waiting time would cost {a} an hour.")
LINE = phrases("{name}: {q}", "{q} x {name}", "{name} | {q} pcs")
LAYOUTS = phrases(
    "DELIVERY NOTE {number}\nOrder {order}\nFrom: {sender}\nTo: {receiver}\n{dates}\nHaulier: {carrier}\n\n{goods}\n\n{weights}\n{story}\n{fees}",
    "{carrier} brought {number}, sent by {sender} to {receiver}. {dates_inline}. {story}\n\nContents of order {order}:\n{goods}\n\n{fees} {weights}.",
    "Subject: Arrival under order {order}\n\nDear {clerk},\n\n{story} {dates_inline}. {weights}. {fees}\n\n{goods}\n\nSender {sender}, consignee {receiver}, carrier {carrier}\nNote {number}",
    "{dates}\nOrder: {order}\nNote: {number}\n\n{goods}\n\nConsignee | {receiver}\nSupplier | {sender}\nCarrier | {carrier}\n\n{fees}\n{weights}. {story} Noted by {clerk}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a delivery."""
    state, hurry = draw.one(tuple(STATES)), draw.one((1, 2, 3))
    signed, cold = draw.chance(0.5), draw.one((True, False, None))
    for key, value in (("state", state), ("hurry", hurry), ("signed", signed), ("cold", cold)):
        draw.know(key, value)
    sender, receiver, carrier = draw.company(), draw.company(), draw.company()
    number, order = draw.several_codes(draw.one(("DN-", "L", "8-")), 2)
    draw.know("summary", f"{carrier} delivered goods from {sender} to {receiver}, and the load was {state}.")
    story = [draw.phrase(STATES[state]), draw.phrase(SIGNED[signed]), draw.phrase(HURRY[hurry])]
    story += [draw.phrase(COLD[cold])] if cold is not None else []
    dates = _dates(draw)
    return {
        "number": draw.say("number", number),
        "order": draw.say("order", order),
        "sender": draw.say("sender", sender),
        "receiver": draw.say("receiver", receiver),
        "carrier": draw.say("carrier", carrier),
        "clerk": draw.person().full,
        "story": join(" ", draw.shuffled(story)),
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "weights": _weights(draw),
        "fees": _fees(draw),
        "goods": _goods(draw),
    }


def _dates(draw: Draw) -> Sequence[Part]:
    sent = draw.phrase(SENT, d=draw.say_day("sent", draw.today))
    arrived = draw.maybe(
        0.6, "arrived", lambda: draw.phrase(ARRIVED, d=draw.say_moment("arrived", draw.moment(draw.day(1, 6))))
    )
    return draw.shuffled([sent, arrived, draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-30, 30)))])


def _weights(draw: Draw) -> Part:
    other = draw.phrase(OTHER_WEIGHT, n=draw.print_tenths(draw.rng.randrange(90, 900)))
    weight = draw.maybe(
        0.7, "weight", lambda: draw.phrase(WEIGHT, n=draw.say_tenths("weight", draw.rng.randrange(900, 9000)))
    )
    return capitalised(join(", ", draw.shuffled([other, weight])))


def _fees(draw: Draw) -> Part:
    fee = draw.maybe(0.6, "fee", lambda: draw.phrase(FEE, a=draw.say_money("fee", draw.cents(20, 400))))
    return join(" ", draw.shuffled([draw.phrase(OTHER_SUM, a=draw.money(draw.cents(10, 900))), fee]))


def _goods(draw: Draw) -> Part:
    count = draw.one((1, 2, 3, 4))
    draw.know("goods", count)
    form = draw.wording(LINE)
    lines = [
        template(form, name=draw.say(f"goods/{i}/name", name), q=draw.say(f"goods/{i}/quantity", draw.rng.randrange(2, 90)))
        for i, name in enumerate(draw.several(words.GOODS, count))
    ]  # fmt: skip
    return join("\n", lines)


VARIANTS = {
    "goods_in": s.group(
        {
            "note_number": s.text("number", "Number of the delivery note."),
            "supplier": s.text("sender"),
            "carrier": s.text("carrier"),
            "dispatched": s.day("sent"),
            "arrived_at": s.moment("arrived", null=True),
            "weight_kg": s.number("weight", "Weight of the whole load.", null=True),
            "condition": s.choice("state", {k: k for k in STATES}),
            "signed": s.yes_no("signed"),
            "refrigerated": s.yes_no("cold", null=True),
            "goods": s.items("goods", s.group({"article": s.text("name"), "quantity": s.integer("quantity")})),
            "summary": s.written("summary", "One sentence: who delivered what for whom, and its condition."),
        }
    ),
    "transport": s.group(
        {
            "order_number": s.text("order"),
            "route": s.group({"from": s.text("sender"), "to": s.text("receiver")}, "The two companies."),
            "haulier": s.text("carrier"),
            "freight_cost": s.number("fee", optional=True),
            "total_weight": s.number("weight", optional=True),
            "left_on": s.day("sent"),
            "outcome": s.choice("state", {"intact": ("fine", "No complaint."), "damaged": ("broken", "Something is spoilt."), "incomplete": ("short", "Something is missing.")}),
            "urgency": s.scale("hurry", 1, 3, "How soon it has to be unpacked.", levels=HURRY_LEVELS),
            "articles": s.items("goods", s.text("name")),
        }
    ),
}  # fmt: skip
DELIVERY = Kind("delivery", LAYOUTS, compose, VARIANTS)
