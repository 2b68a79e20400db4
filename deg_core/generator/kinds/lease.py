"""Leases: who lets what to whom, from when, for how much, and who may do what."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

USES = {
    "home": phrases("The tenant will live there with the family.", "The rooms serve as the tenant's dwelling.",
                    "They are let to be lived in and for nothing else.", "The tenant makes it the household's only home.",
                    "Sleeping, cooking and living are the agreed use.", "It is to be the place where the tenant resides."),
    "shop": phrases("The tenant will sell bread and cakes there.", "Customers may be served there from eight to eight.",
                    "The space is let for the sale of shoes to the public.", "A florist's counter will be set up by the tenant.",
                    "The tenant retails spectacles on the premises.", "Goods may be displayed and sold to passers-by."),
    "storage": phrases("The tenant keeps furniture there and nobody stays in it.", "Only boxes and pallets may be put there.",
                       "The space is used to keep stock that is sold elsewhere.", "Archived files are to be kept in the rooms.",
                       "Spare parts will be stacked there until needed.", "The tenant may lay in goods, but neither work nor sleep there."),
}  # fmt: skip
REPAIRS = {
    "landlord": phrases("Whatever breaks is mended at the owner's expense.", "The letting party looks after all repairs.",
                        "The tenant need only report defects, as the owner puts them right.", "Upkeep lies with the owner alone.",
                        "No cost of mending falls on the tenant."),
    "tenant": phrases("The occupier mends at his own cost whatever breaks.", "All upkeep is for the renting party to pay.",
                      "The owner need not repair anything during the term.", "Defects are put right by the renter and at the renter's expense.",
                      "Repairs of every sort are borne by the occupier."),
    "shared": phrases("Small repairs fall to the renter, large ones to the owner.", "The cost of mending is split in halves.",
                      "Roof and walls are the owner's care, the inside is the renter's.", "Each side pays a part of every repair.",
                      "Up to a set sum the renter pays for repairs, above it the owner."),
}  # fmt: skip
PETS = {
    True: phrases("A dog or a cat is welcome.", "Animals may be kept.", "Four-legged friends are no problem.", "The owner agrees to a dog."),
    False: phrases("Animals must not be kept.", "No dogs, no cats.", "Keeping an animal is forbidden.", "Pets may not live there."),
}  # fmt: skip
HEATED = {
    True: phrases("Heating is part of the rent.", "The rent covers warmth and hot water.", "Nothing is added for heating.", "Warmth comes at no extra cost."),
    False: phrases("Heating is billed on top.", "Gas for the radiators is paid apart.", "Warmth and hot water come on a bill of their own.",
                   "The renter pays the heating supplier directly."),
}  # fmt: skip
STRICT = {
    1: phrases("A handshake settles most things between the parties.", "Late rent is no drama, so long as it comes.",
               "The parties wish to keep it easy and forgiving."),
    2: phrases("After two reminders the owner may end the lease.", "Ordinary rules of the trade apply to late rent.",
               "A late payment costs the usual fee."),
    3: phrases("One day of delay ends the lease without warning.", "Any breach, however small, means leaving at once.",
               "The slightest breach forfeits the whole deposit."),
}  # fmt: skip
STRICT_LEVELS = {1: "lenient", 2: "usual", 3: "harsh"}
SIGNED = phrases(
    "Signed on {d}",
    "Date of signature: {d}",
    "Done and signed {d}",
    "Both parties signed {d}",
    "Agreed in writing on {d}",
)
STARTS = phrases(
    "The lease runs from {d}",
    "Beginning: {d}",
    "The term opens on {d}",
    "Let as from {d}",
    "First day of the lease: {d}",
)
ENDS = phrases(
    "It ends on {d}", "Last day of the term: {d}", "It runs out on {d}", "The term closes {d}", "Expiry: {d}"
)
OPEN_END = phrases(
    "It has no fixed end", "It runs until one side gives notice", "No last day has been set", "The term is unlimited"
)
OTHER_DAY = phrases("The previous lease ended on {d}", "The keys were viewed on {d}", "The house was last painted on {d}", "Energy certificate of {d}",
                    "Entered in the land register {d}", "Offer made on {d}")  # fmt: skip
RENT = phrases(
    "The rent is {a} a month",
    "Monthly rent: {a}",
    "Each month {a} is due as rent",
    "Rent per month {a}",
    "Every month the renter pays {a}",
)
OLD_RENT = phrases(
    "Until now the rent was {a}",
    "The last tenant paid {a}",
    "Similar rooms cost {a}",
    "Rent first asked: {a}",
    "A parking space would cost {a}",
)
DEPOSIT = phrases(
    "A deposit of {a} is held",
    "Security: {a}",
    "The renter leaves {a} as security",
    "Deposit: {a}",
    "Sum held against damage: {a}",
)
FEE = phrases(
    "The agent's fee was {a}",
    "Cleaning at the end costs {a}",
    "The kitchen was valued at {a}",
    "Fee of the notary: {a}",
    "The insured value is {a}",
)
NOTICE = phrases("notice must be given {n} weeks ahead", "either side may give {n} weeks' notice", "notice period: {n} weeks",
                 "{n} weeks' notice is needed to leave", "it can be ended with {n} weeks' warning")  # fmt: skip
OTHER_TERM = phrases("the owner may look in after {n} days' warning", "defects must be reported within {n} days", "the lock is changed after {n} days",
                     "bills are sent within {n} days", "keys must be back within {n} days")  # fmt: skip
STEP = phrases("from {d}: {a}", "{a} as of {d}", "{d} - new rent {a}", "{d} | {a}", "on {d} it rises to {a}")
STEPS_HEAD = phrases("Later rents:", "Agreed increases:", "Stepped rent:", "The rent will rise:")
ROOMS = phrases("cellar", "balcony", "parking space", "attic", "garden shed", "bicycle room", "terrace", "wash house", "workshop", "laundry", "loft", "hayloft", "boiler room", "summer kitchen", "boat shed",
                "courtyard", "carport", "pantry")  # fmt: skip
WITH = phrases(
    "Let along with it: {list}.",
    "Included: {list}.",
    "These go with it: {list}.",
    "The renter also has the use of: {list}.",
)
WITHOUT = phrases(
    "The {x} stays with the owner.",
    "Not included: {x}.",
    "The {x} is let to somebody else.",
    "The {x} may not be entered.",
)
LAYOUTS = phrases(
    "LEASE {id}\n\nbetween {landlord} (owner) and {tenant} (renter)\nfor {address}\n\n1. {dates_inline}.\n2. {sums_inline}.\n3. {terms}.\n4. {story}\n5. {extras}\n\n{steps}\n\nNegotiated by {agent}",
    "File {id}, kept by {agent}\n\n{tenant} rents from {landlord} the premises at {address}. {story}\n\n{dates_inline}. {terms}. {extras}\n\n{sums}\n\n{steps}",
    "Object: {address}\nRenter: {tenant}\nOwner: {landlord}\nAgent: {agent}\n{dates}\n{sums}\n\n{story} {extras}\n{terms}.\n\n{steps}\nContract {id}",
    "Dear {tenant},\n\nhere is a short account of what you and {landlord} have agreed for {address}. {story} {extras}\n\n{dates_inline}. {sums_inline}. {terms}.\n\n{steps}\n\nYour contract is {id}.\n{agent}",
    "{dates}\n\n{agent} has drawn up contract {id}: {landlord} lets {address} to {tenant}. {sums_inline}. {story}\n{terms}. {extras}\n{steps}",
    "Summary of contract {id}\n\nPremises | {address}\nFor the owner | {landlord}\nBroker | {agent}\nRenting party | {tenant}\n{sums}\n{dates}\n{steps}\n\n{extras} {terms}. {story}",
    "{landlord} and {tenant} sign this lease of {address} ({id}).\n\n{sums_inline}. {dates_inline}.\n\n{extras} {story} {terms}.\n{steps}\n\nMediated by {agent}",
    "Mediator: {agent}\nNumber: {id}\n\n{story} {extras} {terms}.\n\n{sums}\n{steps}\n{dates}\n\nLandlord: {landlord}\nTenant: {tenant}\nPlace: {address}",
)


def compose(draw: Draw) -> dict[str, Part]:
    """Draw a lease."""
    use, repairs, strict = draw.one(tuple(USES)), draw.one(tuple(REPAIRS)), draw.one((1, 2, 3))
    pets, heated = draw.one((True, False, None)), draw.chance(0.5)
    for key, value in (("use", use), ("repairs", repairs), ("strict", strict), ("pets", pets), ("heated", heated)):
        draw.know(key, value)
    owner = draw.company() if draw.chance(0.5) else draw.person().full
    tenant, agent, address = draw.person().full, draw.person().full, draw.address()
    purpose = {"home": "as a home", "shop": "as a shop", "storage": "for storage"}[use]
    draw.know(
        "summary",
        f"{owner} lets {address} to {tenant} {purpose}, with {'heating included' if heated else 'heating paid apart'}.",
    )
    story = [
        draw.phrase(USES[use]),
        draw.phrase(REPAIRS[repairs]),
        draw.phrase(HEATED[heated]),
        draw.phrase(STRICT[strict]),
    ]
    if pets is not None:
        story.append(draw.phrase(PETS[pets]))
    dates, (sums, rent) = _dates(draw), _sums(draw)
    other_term = draw.phrase(OTHER_TERM, n=str(draw.rng.randrange(2, 21)))
    notice = draw.maybe(0.7, "notice", lambda: draw.phrase(NOTICE, n=draw.say("notice", draw.rng.randrange(2, 27))))
    return {
        "id": draw.say("id", draw.several_codes(draw.one(("L-", "MV", "LC/")), 1)[0]),
        "landlord": draw.say("landlord", owner),
        "tenant": draw.say("tenant", tenant),
        "agent": agent,
        "address": draw.say("address", address),
        "story": join(" ", draw.shuffled(story)),
        "dates": join("\n", dates),
        "dates_inline": join(". ", dates),
        "sums": join("\n", sums),
        "sums_inline": join(". ", sums),
        "terms": capitalised(join("; ", draw.shuffled([other_term, notice]))),
        "steps": _steps(draw, rent),
        "extras": _extras(draw),
    }


def _dates(draw: Draw) -> Sequence[Part]:
    signed = draw.phrase(SIGNED, d=draw.say_day("signed", draw.today))
    starts = draw.phrase(STARTS, d=draw.say_day("starts", draw.day(8, 70)))
    ends = draw.maybe(
        0.6, "ends", lambda: draw.phrase(ENDS, d=draw.say_day("ends", draw.day(400, 900))), draw.phrase(OPEN_END)
    )
    other = draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-200, -10)))
    return draw.shuffled([join(". ", [starts, ends]), signed, other])


def _sums(draw: Draw) -> tuple[Sequence[Part], int]:
    """The sums in any order, and the rent in whole units."""
    rent = draw.rng.randrange(40, 290) * 10 + 5
    said = draw.phrase(RENT, a=draw.say_money("rent", rent * 100))
    old = draw.phrase(OLD_RENT, a=draw.money((rent - draw.rng.randrange(5, 90)) * 100))
    fee = draw.phrase(FEE, a=draw.money(draw.cents(90, 800)))
    deposit = draw.maybe(
        0.65, "deposit", lambda: draw.phrase(DEPOSIT, a=draw.say_money("deposit", rent * 100 * draw.one((2, 3))))
    )
    return draw.shuffled([said, old, deposit or fee]), rent


def _steps(draw: Draw, rent: int) -> Part:
    """Agreed later rents, or none."""
    count = draw.one((0, 0, 1, 2, 2, 3))
    draw.know("steps", count)
    if not count:
        return ""
    form, lines = draw.wording(STEP), []
    for i in range(count):
        rent += draw.rng.randrange(10, 60)
        day, amount = (
            draw.say_day(f"steps/{i}/from", draw.day(360 * (i + 1), 360 * (i + 1) + 40)),
            draw.say_money(f"steps/{i}/rent", rent * 100),
        )
        lines.append(template(form, d=day, a=amount))
    return join("\n", [draw.phrase(STEPS_HEAD), *lines])


def _extras(draw: Draw) -> Part:
    count = draw.one((0, 1, 2, 2, 3))
    draw.know("extras", count)
    without = draw.phrase(WITHOUT, x=draw.fresh(ROOMS))
    if not count:
        return without
    names = [draw.say(f"extras/{i}", name) for i, name in enumerate(draw.several(ROOMS, count))]
    return join(" ", draw.shuffled([without, draw.phrase(WITH, list=join(", ", names))]))


VARIANTS = {
    "contract": s.group(
        {
            "contract_no": s.text("id"),
            "landlord": s.text("landlord"),
            "tenant": s.text("tenant"),
            "address": s.text("address"),
            "start_date": s.day("starts"),
            "end_date": s.day("ends", null=True),
            "monthly_rent": s.core(s.number("rent")),
            "deposit": s.number("deposit", null=True),
            "use": s.choice("use", {"home": "residential", "shop": "retail", "storage": "storage"}),
            "heating_included": s.yes_no("heated"),
            "rent_steps": s.items("steps", s.group({"from": s.day("from"), "rent": s.number("rent")}), "Increases agreed for later."),
            "summary": s.written("summary", "One sentence: who lets what to whom, for what use, and the heating."),
        }
    ),
    "obligations": s.group(
        {
            "parties": s.group({"owner": s.text("landlord"), "renter": s.text("tenant")}),
            "repairs_by": s.choice(
                "repairs",
                {"landlord": ("owner", "The owner pays for repairs."), "tenant": ("renter", "The renter pays."), "shared": ("both", "Both pay a part.")},
            ),
            "pets_allowed": s.yes_no("pets", "Null when the contract is silent.", null=True),
            "strictness": s.scale("strict", 1, 3, "How hard the contract is on late rent or breaches.", levels=STRICT_LEVELS),
            "notice_weeks": s.core(s.integer("notice", "Notice period in weeks.", null=True)),
            "security": s.number("deposit", "Money held against damage.", optional=True),
            "signed_on": s.day("signed"),
            "extras": s.items("extras", s.text(""), "Spaces that are let along with it."),
            "note": s.written("summary", "One sentence: who lets what to whom, for what use, and the heating."),
        }
    ),
    "register": s.group(
        {
            "premises": s.text("address"),
            "lessee": s.text("tenant", "Who rents."),
            "signature_date": s.day("signed"),
            "term": s.group({"begins": s.day("starts"), "ends": s.day("ends", optional=True)}),
            "rent": s.core(s.number("rent", "Rent of a month at the start.")),
            "purpose": s.choice("use", {"home": "living", "shop": "selling", "storage": "keeping things"}, "What the rooms are for."),
            "heating": s.choice("heated", {True: "in the rent", False: "extra"}),
            "maintenance": s.choice("repairs", {k: k for k in REPAIRS}),
            "later_rents": s.items("steps", s.group({"as_of": s.day("from"), "amount": s.number("rent")})),
        }
    ),
}  # fmt: skip
LEASE = Kind("lease", LAYOUTS, compose, VARIANTS)
