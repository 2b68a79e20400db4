"""Leases: who lets what to whom, from when, for how much, and who may do what."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, capitalised, join, template
from deg_core.generator.vocabulary import phrases

USES = {
    "home": phrases(
        "The tenant will live there with the family.", "The rooms serve as the tenant's dwelling.",
        "They are let to be lived in and for nothing else.", "The tenant makes it the household's only home.",
        "Sleeping, cooking and living are the agreed use.", "Use: residential.", "Purpose: living.",
        "The premises are let as a home.", "It is to be lived in, not traded from.",
        "The children of the tenant will grow up in these rooms.", "The tenant moves in with a partner and a newborn.",
        "The renter will spend nights and weekends there and put a bed and a dining table in.",
        "It is to be the place where the tenant resides.", "Agreed use: private dwelling.",
        "Here the renter will cook, rest and bring up the children.",
        "The renter gives up a flat in the next street and settles here.",
    ),
    "shop": phrases(
        "The tenant will sell bread and cakes there.", "Customers may be served there from eight to eight.",
        "The space is let for the sale of shoes to the public.", "A florist's counter will be set up by the tenant.",
        "The tenant retails spectacles on the premises.", "Use: retail.", "Purpose: selling.",
        "The premises are let as a shop.", "The renter opens a grocer's there.",
        "A till and a sales counter are put in by the tenant.", "People will walk in from the street and buy toys.",
        "Window displays and price tags are allowed, as befits a boutique.",
        "Goods may be displayed and sold to passers-by.", "Agreed use: retail trade.",
        "The renter runs a bookshop on the premises.", "Buyers will try on hats there before they pay.",
    ),
    "storage": phrases(
        "The tenant keeps furniture there and nobody stays in it.", "Only boxes and pallets may be put there.",
        "The space is used to keep stock that is sold elsewhere.", "Archived files are to be kept in the rooms.",
        "Spare parts will be stacked there until needed.", "Use: storage.", "Purpose: keeping things.",
        "The premises are let as a warehouse.", "The renter puts away idle machines there.",
        "Crates are brought in and left until they are fetched.",
        "Household goods wait there while the tenant is abroad.",
        "Racks of surplus stock are all that the rooms will hold.",
        "The tenant may lay in goods, but neither work nor sleep there.", "Agreed use: warehousing.",
        "The renter needs the space to keep winter tyres out of the rain.",
        "Barrels and sacks rest there, and nobody serves customers.",
    ),
}  # fmt: skip
REPAIRS = {
    "landlord": phrases(
        "Whatever breaks is mended at the owner's expense.", "The letting party looks after all repairs.",
        "The tenant need only report defects, as the owner puts them right.", "Upkeep lies with the owner alone.",
        "Repairs: owner.", "Maintenance by the landlord.", "The landlord pays for all repairs.",
        "The owner carries out repairs and settles the bills.",
        "A dripping tap or a broken pane is the owner's affair.",
        "Workmen's invoices go to the owner, whatever they mended.",
        "If something fails, the renter rings and the owner has it fixed and paid.",
        "Keeping the building and its fittings in order is the letting side's duty.",
        "No cost of mending falls on the tenant.", "Repair costs: all on the owner.",
        "The renter's purse stays shut when something breaks, since the owner pays.",
        "The letting side sends for the craftsmen and pays them.",
    ),
    "tenant": phrases(
        "The occupier mends at his own cost whatever breaks.", "All upkeep is for the renting party to pay.",
        "The owner need not repair anything during the term.",
        "Defects are put right by the renter and at the renter's expense.", "Repairs: renter.",
        "Maintenance by the tenant.", "The tenant pays for all repairs.",
        "The renter keeps everything in working order and bears the cost.",
        "The owner is never sent a craftsman's bill, for those go to the renter.",
        "A leaking roof or a jammed door, the renter has both seen to and paid for.",
        "Wear and breakage are the lessee's worry and the lessee's money.",
        "When something gives way, the occupier picks the workman and pays him.",
        "Repairs of every sort are borne by the occupier.", "Repair costs: all on the renter.",
        "The letting side may look on while the occupier has things mended and pays.",
        "Whatever the craftsmen charge comes out of the tenant's pocket.",
    ),
    "shared": phrases(
        "Small repairs fall to the renter, large ones to the owner.", "The cost of mending is split in halves.",
        "Roof and walls are the owner's care, the inside is the renter's.", "Each side pays a part of every repair.",
        "Repairs: both sides.", "Maintenance is shared.", "Owner and renter share the cost of repairs.",
        "Both parties pay towards mending.", "The renter sees to taps and handles, the owner to pipes and beams.",
        "Workmen's invoices are divided between owner and renter.",
        "Two purses open whenever something breaks, the owner's and the renter's.",
        "The fabric of the house is for the owner to keep up, its fittings for the renter.",
        "Up to a set sum the renter pays for repairs, above it the owner.", "Repair costs: borne jointly.",
        "Everyday mending is the occupier's, structural work the landlord's.", "Neither side bears the upkeep alone.",
    ),
}  # fmt: skip
PETS = {
    True: phrases(
        "A dog or a cat is welcome.", "Animals may be kept.", "Four-legged friends are no problem.", "Pets: allowed.",
        "Pets permitted: yes.", "The renter may have pets.",
        "The contract lets the renter share the rooms with an animal.", "The owner does not mind a cat.",
        "The tenant's spaniel comes along too.", "Rabbits and budgerigars may share the rooms.",
        "A dog basket by the door is fine with the owner.", "The owner likes animals and has said yes to them.",
        "The owner agrees to a dog.", "Animals: yes.", "The tenant's cat has the owner's blessing.",
        "Whoever comes with fur or feathers may stay.",
    ),
    False: phrases(
        "Animals must not be kept.", "No dogs, no cats.", "Keeping an animal is forbidden.", "Pets: not allowed.",
        "Pets permitted: no.", "The renter may not have pets.", "Animals are banned.",
        "The owner will not hear of a dog or cat.", "On the owner's demand the tenant has given the spaniel away.",
        "Not so much as a hamster may be brought in.",
        "Baskets, cages and kennels are ruled out, and so are those who sleep in them.",
        "Whoever wants an animal has to rent elsewhere.", "Pets may not live there.", "Animals: none permitted.",
        "Paws and claws have to stay outside for good.", "The owner refuses any four-legged lodger.",
    ),
}  # fmt: skip
HEATED = {
    True: phrases(
        "Heating is part of the rent.", "The rent covers warmth and hot water.", "Nothing is added for heating.",
        "Heating: included.", "Heating included: yes.", "Heating costs are in the rent.",
        "The rent is inclusive of heating.", "The owner foots the heating bill.",
        "Warm radiators are covered by the monthly payment.",
        "However cold the winter, the renter pays no more than the rent for warmth.",
        "No separate bill for heating ever reaches the renter.",
        "Whoever has paid the rent has also paid for a warm room.", "Warmth comes at no extra cost.",
        "Heating: in the rent.", "The renter may turn up the radiators without a further charge.",
        "The cost of fuel is already contained in the monthly sum.",
    ),
    False: phrases(
        "Heating is billed on top.", "Gas for the radiators is paid apart.",
        "Warmth and hot water come on a bill of their own.", "Heating: extra.", "Heating included: no.",
        "Heating costs come on top of the rent.", "The rent is exclusive of heating.",
        "The rent does not include heating.", "A meter counts the warmth used, and the renter is charged for it.",
        "The renter orders the fuel and pays for it.",
        "A cold winter is dearer for the renter, as warmth is charged by use.",
        "Whoever wants warm rooms settles a second bill besides the rent.",
        "The renter pays the heating supplier directly.", "Heating: not in the rent.",
        "Fuel is the renter's own outlay.", "What the radiators use is invoiced to the renter separately.",
    ),
}  # fmt: skip
STRICT = {
    1: phrases(
        "A handshake settles most things between the parties.", "Late rent is no drama, so long as it comes.",
        "Late payment: no penalty.", "The contract is lenient.", "Terms on breaches: easy-going.",
        "Nobody is charged for paying late.", "The owner will turn a blind eye to delays.",
        "Small breaches are talked over and forgotten.", "Should rent be late, the owner waits in patience.",
        "Mistakes are forgiven, and forgiven again.", "No threat hangs over a renter who falls behind.",
        "If money is short, a friendly word buys more time.", "The parties wish to keep it easy and forgiving.",
        "Breaches: treated with indulgence.", "A renter in arrears gets all the time that is needed.",
        "The owner promises not to make a fuss about slips.",
    ),
    2: phrases(
        "After two reminders the owner may end the lease.", "Ordinary rules of the trade apply to late rent.",
        "Late payment: standard terms.", "The customary rules on breaches apply.", "Strictness: as is usual.",
        "Breaches are handled as in most leases.",
        "Late rent is met with a reminder first and a normal charge after that.",
        "Neither gentle nor severe, the clauses on arrears follow common practice.",
        "Interest at the common rate is added to late rent.",
        "What the law says of late payment holds here, no more and no less.",
        "The clause on arrears is taken from the standard form.",
        "A breach must be put right within a fair time, or the lease may be ended.",
        "A late payment costs the usual fee.", "Breaches: the normal procedure.",
        "Arrears are chased in the ordinary way before anything else follows.",
        "A renter in breach gets the customary warning and the customary time to mend matters.",
    ),
    3: phrases(
        "One day of delay ends the lease without warning.", "Any breach, however small, means leaving at once.",
        "Late payment: instant termination.", "The contract is harsh on breaches.", "Terms on breaches: merciless.",
        "No delay is ever forgiven.", "The owner may lock the renter out the morning after a missed payment.",
        "A single slip puts the renter out on the street.", "There are no reminders, only eviction.",
        "Whoever pays late loses the lease and owes a heavy penalty.",
        "Excuses are not heard, and the least fault is punished.", "Crushing fines are due for the smallest lapse.",
        "The slightest breach forfeits the whole deposit.", "Breaches: zero tolerance.",
        "Rent that is an hour late has the bailiff at the door.", "The owner shows no mercy to a renter in arrears.",
    ),
}  # fmt: skip
STRICT_LEVELS = {1: "lenient", 2: "usual", 3: "harsh"}
SIGNED = phrases(
    "Signed on {d}", "Date of signature: {d}", "Done and signed {d}", "Both parties signed {d}", "Signature date: {d}",
    "Contract signed by owner and renter on {d}", "Signed by both sides: {d}", "The signatures were given on {d}",
    "Signed and exchanged on {d}", "Agreed in writing on {d}", "The parties set their names to it on {d}",
    "Day of signing: {d}",
)  # fmt: skip
STARTS = phrases(
    "The lease runs from {d}", "Beginning: {d}", "The term opens on {d}", "Let as from {d}", "Start date: {d}",
    "The lease begins on {d}", "The tenancy starts {d}", "Rented from {d} onwards", "Commencement of the term: {d}",
    "First day of the lease: {d}", "The letting takes effect on {d}", "Term begins: {d}",
)  # fmt: skip
ENDS = phrases(
    "It ends on {d}", "Last day of the term: {d}", "It runs out on {d}", "The term closes {d}", "End date: {d}",
    "The lease comes to an end on {d}", "Let until {d}", "The tenancy finishes on {d}", "It lasts until {d}",
    "Expiry: {d}", "Term ends: {d}", "The letting stops on {d}",
)  # fmt: skip
OPEN_END = phrases(
    "It has no fixed end", "It runs until one side gives notice", "No last day has been set", "End date: none",
    "Let for an indefinite period", "The end is left open", "No end has been agreed",
    "It goes on until either party gives it up", "Open-ended", "The term is unlimited", "Term ends: open",
    "It is not limited in time",
)  # fmt: skip
OTHER_DAY = phrases(
    "The previous lease ended on {d}", "The keys were viewed on {d}", "The house was last painted on {d}",
    "Energy certificate of {d}", "Entered in the land register {d}", "The present owner bought the house on {d}",
    "The premises were measured on {d}", "Building insurance taken out {d}", "Advertised since {d}",
    "Offer made on {d}", "First viewing: {d}", "Fire inspection of {d}",
)  # fmt: skip
RENT = phrases(
    "The rent is {a} a month", "Monthly rent: {a}", "Each month {a} is due as rent", "Rent per month {a}",
    "Rent: {a} a month", "Rent at the start: {a} per month", "The renter owes {a} monthly",
    "To be paid as monthly rent: {a}", "For the use of the premises the renter pays {a} a month",
    "Every month the renter pays {a}", "The agreed rent is {a} monthly", "Rent due each month: {a}",
)  # fmt: skip
OLD_RENT = phrases(
    "Until now the rent was {a}", "The last tenant paid {a}", "Similar rooms cost {a}", "Rent first asked: {a}",
    "Former rent: {a}", "The local rent index suggests {a}", "Before the renovation it was let for {a}",
    "Rent of the unit next door: {a}", "The owner had hoped for {a}", "A parking space would cost {a}",
    "Average rent in the street: {a}", "The renter had first offered {a}",
)  # fmt: skip
DEPOSIT = phrases(
    "A deposit of {a} is held", "Security: {a}", "The renter leaves {a} as security", "Deposit: {a}",
    "Deposit to be paid: {a}", "The security deposit is {a}", "As security the owner keeps {a}",
    "Deposit, refunded at the end: {a}", "A sum of {a} is lodged as a deposit", "Sum held against damage: {a}",
    "Security deposit in the amount of {a}", "In case of damage the owner holds {a}",
)  # fmt: skip
FEE = phrases(
    "The agent's fee was {a}", "Cleaning at the end costs {a}", "The kitchen was valued at {a}",
    "Fee of the notary: {a}", "Drawing up the contract cost {a}", "The advertisement cost {a}",
    "The energy certificate cost {a}", "Locksmith's bill for new keys: {a}", "Stamp duty: {a}",
    "The insured value is {a}", "The surveyor charged {a}", "Name plate and letter box: {a}",
)  # fmt: skip
NOTICE = phrases(
    "notice must be given {n} weeks ahead", "either side may give {n} weeks' notice", "notice period: {n} weeks",
    "{n} weeks' notice is needed to leave", "period of notice {n} weeks",
    "the lease may be given up at {n} weeks' notice", "giving up the premises takes {n} weeks' notice",
    "whoever wants to end the lease says so {n} weeks before", "notice to quit: {n} weeks",
    "it can be ended with {n} weeks' warning", "required notice {n} weeks",
    "termination takes effect {n} weeks after notice is served",
)  # fmt: skip
OTHER_TERM = phrases(
    "the owner may look in after {n} days' warning", "defects must be reported within {n} days",
    "the lock is changed after {n} days", "bills are sent within {n} days", "the inventory is checked within {n} days",
    "a change of bank is told within {n} days", "rubbish is to be cleared every {n} days",
    "objections to a bill are raised within {n} days", "the stairs are swept every {n} days",
    "keys must be back within {n} days", "post for earlier occupants is kept for {n} days",
    "letters to the owner are answered within {n} days",
)  # fmt: skip
STEP = phrases(
    "from {d}: {a}", "{a} as of {d}", "{d} - new rent {a}", "{d} | {a}", "{d}: {a}", "starting {d}, {a}",
    "{a} from {d} on", "* {d}, rent {a}", "rent {a}, effective {d}", "on {d} it rises to {a}",
    "as from {d} the rent is {a}", "{a} (beginning {d})",
)  # fmt: skip
STEPS_HEAD = phrases(
    "Later rents:", "Agreed increases:", "Stepped rent:", "Rent steps:", "Future rent:", "Increases to come:",
    "The rent goes up in stages:", "Rent in later years:", "What the renter will pay later:", "The rent will rise:",
    "Scheduled rises:", "Coming rents per month:",
)  # fmt: skip
ROOMS = phrases(
    "cellar", "balcony", "parking space", "attic", "garden shed", "bicycle room", "terrace", "wash house", "workshop",
    "laundry", "loft", "hay barn", "boiler room", "summer kitchen", "veranda", "greenhouse", "box room", "drying room",
    "sauna", "roof garden", "tool shed", "wine vault", "hobby room", "front yard", "coal bunker", "pram room",
    "guest room", "woodshed", "pergola", "jetty", "boat shed", "courtyard", "carport", "pantry", "conservatory",
    "lock-up garage", "rear porch", "playroom", "cloakroom", "gallery",
)  # fmt: skip
WITH = phrases(
    "Let along with it: {list}.", "Included: {list}.", "These go with it: {list}.", "Let together with: {list}.",
    "Part of the lease: {list}.", "Let as extras: {list}.", "Spaces included: {list}.",
    "The renter gets in addition: {list}.", "Also handed over to the renter: {list}.",
    "The renter also has the use of: {list}.", "Further spaces in the lease: {list}.", "Also rented: {list}.",
)  # fmt: skip
WITHOUT = phrases(
    "The {x} stays with the owner.", "Not included: {x}.", "The {x} is let to somebody else.", "Excluded: {x}.",
    "The owner keeps the {x}.", "The {x} is not part of the lease.", "No right to the {x}.",
    "The {x} belongs to the neighbours.", "The renter must do without the {x}.", "The {x} may not be entered.",
    "Left out of the lease: {x}.", "Only the owner has a key to the {x}.",
)  # fmt: skip
LAYOUTS = phrases(
    "LEASE {id}\n\nbetween {landlord} (owner) and {tenant} (renter)\nfor {address}\n\n1. {dates_inline}.\n2. {sums_inline}.\n3. {terms}.\n4. {story}\n5. {extras}\n\n{steps}\n\nNegotiated by {agent}",
    "File {id}, kept by {agent}\n\n{tenant} rents from {landlord} the premises at {address}. {story}\n\n{dates_inline}. {terms}. {extras}\n\n{sums}\n\n{steps}",
    "Object: {address}\nRenter: {tenant}\nOwner: {landlord}\nAgent: {agent}\n{dates}\n{sums}\n\n{story} {extras}\n{terms}.\n\n{steps}\nContract {id}",
    "Dear {tenant},\n\nhere is a short account of what you and {landlord} have agreed for {address}. {story} {extras}\n\n{dates_inline}. {sums_inline}. {terms}.\n\n{steps}\n\nYour contract is {id}.\n{agent}",
    "{dates}\n\n{agent} has drawn up contract {id}: {landlord} lets {address} to {tenant}. {sums_inline}. {story}\n{terms}. {extras}\n{steps}",
    "Summary of contract {id}\n\nPremises | {address}\nFor the owner | {landlord}\nBroker | {agent}\nRenting party | {tenant}\n{sums}\n{dates}\n{steps}\n\n{extras} {terms}. {story}",
    "LEASE SHEET {id}\nOwner | {landlord}\nTenant | {tenant}\nLetting agent | {agent}\nAddress | {address}\n\n{story}\n{dates}\n{sums}\n{extras}\n{terms}.\n{steps}",
    "To: {tenant}\nFrom: {agent}, on behalf of the owner, {landlord}\nSubject: your lease {id}\n\nThe premises are at {address}. {sums_inline}. {story}\n\n{dates_inline}. {terms}. {extras}\n\n{steps}",
    "By contract {id} the owner, {landlord}, hands the premises at {address} over to the renter, {tenant}. {story} {sums_inline}. {extras} {dates_inline}. {terms}. The deal was arranged by {agent}.\n{steps}",
    "Key points of lease {id}\n* {terms}\n* {story}\n* {extras}\n{sums}\n{dates}\n{steps}\n\nLet by {landlord} through {agent}\nTaken by {tenant}\nSituated at {address}",
    "ref {id} / {address}\nlessor {landlord}, lessee {tenant}, broker {agent}\n{extras}\n{dates}\n{steps}\n{sums}\n{story} {terms}.",
    "Dear {landlord},\n\nyour premises at {address} have found a renter: {tenant}. {dates_inline}. {story} {terms}.\n\n{sums_inline}. {extras}\n{steps}\n\nThe contract has the number {id}.\nKind regards\n{agent}, letting agent",
    "{landlord} and {tenant} sign this lease of {address} ({id}).\n\n{sums_inline}. {dates_inline}.\n\n{extras} {story} {terms}.\n{steps}\n\nMediated by {agent}",
    "Mediator: {agent}\nNumber: {id}\n\n{story} {extras} {terms}.\n\n{sums}\n{steps}\n{dates}\n\nLandlord: {landlord}\nTenant: {tenant}\nPlace: {address}",
    "For the attention of the tenant, {tenant}\n\n{extras} {story}\n{dates_inline}. {sums_inline}.\n{steps}\n{terms}.\n\nRef. {id}, premises {address}\nFor the owner, {landlord}: {agent}, agent",
    "Property let: {address}\n\n{sums}\n{terms}.\n{story} {extras}\n{dates}\n{steps}\n\nWho lets: {landlord}\nWho rents: {tenant}\nWho brokered it: {agent}\nLease no.: {id}",
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
