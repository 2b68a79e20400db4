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
    "intact": phrases(
        "Every box was dry, closed and without a dent.",
        "Nothing was wrong with the load.",
        "Condition: complete and undamaged.",
        "The goods came in full and in perfect shape.",
        "A check of the load, piece by piece, gave no reason to complain.",
        "There was not a scratch on the goods, and the count agreed with the list.",
        "Complete on arrival, no breakage.",
        "All was as it should be.",
    ),
    "damaged": phrases(
        "Two boxes were crushed and their contents broken.",
        "Water had soaked the lower layer.",
        "Condition: damaged in transit.",
        "Some of the goods came broken.",
        "When the wrapping was cut, splinters and shards fell out.",
        "Several pieces are bent out of shape and cannot be used.",
        "Everything is there, but part of it was ruined by rough handling.",
        "A fork had pierced the side and spoilt what was within.",
    ),
    "incomplete": phrases(
        "One carton on the list was not on the pallet.",
        "Fewer boxes came than were announced.",
        "Condition: undamaged but not complete.",
        "Part of what was ordered did not come.",
        "A recount confirmed that the van held less than the note says.",
        "What did come is in good order; the rest has still to be delivered.",
        "Short delivery: not every piece was there.",
        "A part of the load had been left at the depot.",
    ),
}  # fmt: skip
SIGNED = {
    True: phrases(
        "The storeman put his name under the note.",
        "Receipt was confirmed in writing.",
        "Signed on receipt: yes.",
        "The delivery note has been signed.",
        "Someone at the ramp signed for the load.",
        "A signature was given when the boxes changed hands.",
        "The driver drove off with the signed paper in his cab.",
        "The note bears the customer's signature.",
    ),
    False: phrases(
        "Nobody would sign for it.",
        "The line for the signature is empty.",
        "Signed on receipt: no.",
        "The delivery note was not signed.",
        "The driver found no one to put a name on his paper and set the load down all the same.",
        "A signature has still to be given.",
        "The load was set down at the gate, and the note went back unsigned.",
        "It was left without a signature.",
    ),
}  # fmt: skip
COLD = {
    True: phrases(
        "The load had to stay below five degrees.",
        "It travelled in a refrigerated van.",
        "Refrigerated transport: yes.",
        "The goods were chilled from door to door.",
        "Do not let the load get warm now: the carrier never broke the cold chain.",
        "The cooling unit of the van ran for the whole journey.",
        "Frost lay on the inner walls of the van, as it should for such goods.",
        "Cooling was kept up all the way.",
    ),
    False: phrases(
        "No cooling was needed.",
        "It travelled in an ordinary van without refrigeration.",
        "Refrigerated transport: no.",
        "The goods were carried uncooled.",
        "The van had no cooling unit.",
        "Warm or cold, the load takes no harm, so a plain van without a cooler was used.",
        "It was carried at whatever temperature the day brought.",
        "Temperature did not matter for these goods.",
    ),
}  # fmt: skip
HURRY = {
    1: phrases(
        "It can be unpacked when there is time.",
        "Urgency: low.",
        "There is no hurry to unpack.",
        "Leave the boxes closed until a quiet spell comes.",
        "Nobody is waiting for these goods.",
        "The boxes may stand in a corner for weeks before anyone opens them.",
        "Unpacking can wait as long as you like.",
        "The goods are only for the reserve.",
    ),
    2: phrases(
        "Please shelve it within the week.",
        "Urgency: normal.",
        "Unpack it in the usual order, neither first nor last.",
        "It should be unpacked in the course of the next few days.",
        "The warehouse can deal with it on its ordinary round.",
        "Not today, but before the week is out, the boxes should be opened.",
        "Ordinary priority for unpacking.",
        "The shelves should be filled in a few days.",
    ),
    3: phrases(
        "Unpack at once, production waits for it.",
        "Urgency: high.",
        "These boxes must be opened before anything else.",
        "Drop everything and unpack.",
        "The fitters stand idle until the goods are out of their boxes.",
        "Every hour that it stays packed drives customers away.",
        "Top priority: unpack without delay.",
        "The line stops tonight without these parts.",
    ),
}  # fmt: skip
HURRY_LEVELS = {1: "low", 2: "normal", 3: "high"}
SENT = phrases(
    "Dispatched {d}",
    "Left our depot {d}",
    "Date of dispatch: {d}",
    "Sent out {d}",
    "On its way since {d}",
    "Collected from the supplier {d}",
    "Began its journey {d}",
    "Shipped on {d}",
)
ARRIVED = phrases(
    "Arrived {d}",
    "Handed over on {d}",
    "Arrival: {d}",
    "Reached the consignee {d}",
    "Unloaded {d}",
    "Delivered {d}",
    "Came in at the gate {d}",
    "Received at the ramp {d}",
)
OTHER_DAY = phrases(
    "Ordered {d}",
    "Return possible until {d}",
    "Announced for {d}",
    "Order confirmed {d}",
    "Invoice dated {d}",
    "Price list of {d}",
    "Claims accepted until {d}",
    "Form printed {d}",
)
WEIGHT = phrases(
    "gross weight {n} kg",
    "weight in all {n} kg",
    "the whole load weighs {n} kg",
    "total weight: {n} kg",
    "all boxes together {n} kg",
    "weight of the full consignment {n} kg",
    "for the entire load the scales showed {n} kg",
    "total {n} kg",
)
OTHER_WEIGHT = phrases(
    "pallet itself {n} kg",
    "limit of the lift {n} kg",
    "lightest box {n} kg",
    "wrapping alone {n} kg",
    "the hand truck bears at most {n} kg",
    "no single box is over {n} kg",
    "each shelf holds up to {n} kg",
    "heaviest box {n} kg",
)
FEE = phrases(
    "Carriage {a}.",
    "Cost of the transport: {a}.",
    "Freight: {a}.",
    "For bringing the load the haulier asks {a}.",
    "The transport comes to {a}.",
    "The journey is billed at {a}.",
    "The price for moving the load is {a}.",
    "The haul is charged at {a}.",
)
OTHER_SUM = phrases(
    "Goods are insured for {a}.",
    "Deposit for the pallet {a}.",
    "Value of the goods: {a}.",
    "A failed delivery would have cost {a}.",
    "Storage would be charged at {a} a day.",
    "Credit for returned pallets: {a}.",
    "A late return of the pallet costs {a}.",
    "Waiting time would cost {a} an hour.",
)
LINE = phrases(
    "{name}: {q}",
    "{q} x {name}",
    "{name} ({q})",
    "- {name}, quantity {q}",
    "{q} | {name}",
    "Article: {name}; quantity: {q}",
    "[{q}] {name}",
    "{name} | {q} pcs",
)
LAYOUTS = phrases(
    "DELIVERY NOTE {number}\nOrder {order}\nFrom: {sender}\nTo: {receiver}\n{dates}\nHaulier: {carrier}\n\n{goods}\n\n{weights}\n{story}\n{fees}",
    "{carrier} brought {number}, sent by {sender} to {receiver}. {dates_inline}. {story}\n\nContents of order {order}:\n{goods}\n\n{fees} {weights}.",
    "Subject: Arrival under order {order}\n\nDear {clerk},\n\n{story} {dates_inline}. {weights}. {fees}\n\n{goods}\n\nSender {sender}, consignee {receiver}, carrier {carrier}\nNote {number}",
    "GOODS IN\nDelivery note | {number}\nOrder | {order}\nSupplier | {sender}\nReceiver | {receiver}\nCarrier | {carrier}\nFor the attention of | {clerk}\n\n{dates}\n\n{goods}\n\n{weights}. {fees}\n\n{story}",
    "{receiver}\nfor the attention of {clerk}\n\nYour order {order}\n\n{story}\n\n{dates_inline}. On behalf of {sender}, the haulier {carrier} came to you with delivery note {number}:\n{goods}\n\n{weights}. {fees}",
    "From: {sender}\nTo: {receiver}, {clerk}\nSubject: Delivery note {number}\n\nOn the note:\n{goods}\n\n{story} {fees}\n\n{dates_inline}. {weights}. {carrier} drove for us. Please quote order {order}.",
    "- note {number} for order {order}\n- from {sender}\n- to {receiver}\n- driven by {carrier}\n- {weights}\n- {fees}\n- {story}\n\n{goods}\n\n{dates}",
    "{receiver} had placed order {order} with {sender}, and {carrier} drove the load there. {fees} {story}\n\n{goods}\n\n{dates}\n\n{weights}. Filed by {clerk} as delivery note {number}.",
    "LOAD REPORT for {clerk}\n\n{story}\n\n{dates}\n{weights}\n{fees}\n\nGoods:\n{goods}\n\nConsignor: {sender}\nConsignee: {receiver}\nTransport by: {carrier}\nDelivery note no. {number}, order no. {order}",
    "Hello {clerk},\n\nthe driver from {carrier} came with what {receiver} bought from {sender}. {story} {weights}.\n\n{goods}\n\n{fees} {dates_inline}.\n\nThe delivery note is {number} and belongs to order {order}.",
    "{goods}\n\n{weights}\n{dates}\n\nRoute: {sender} to {receiver}\nHaulier: {carrier}\nOrder number: {order}\nDelivery note: {number}\nContact: {clerk}\n\n{fees}\n{story}",
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
