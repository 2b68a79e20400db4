"""Invoices: amounts beside amounts, numbers beside numbers, paid or not."""

from __future__ import annotations

from collections.abc import Sequence

from deg_core.generator import schema as s
from deg_core.generator import vocabulary as words
from deg_core.generator.draw import Draw, as_number
from deg_core.generator.kind import Kind
from deg_core.generator.text import Part, join, template
from deg_core.generator.vocabulary import phrases

STATES = ("paid", "paid", "open", "overdue", "disputed")
STATE = {
    "paid": phrases(
        "Your payment reached us in full, so nothing remains to be settled.",
        "The whole balance was cleared by your payment last week.",
        "This copy is for your files only: the money is already with us.",
        "You paid when you ordered and there is nothing left to do.",
        "Thank you for the prompt remittance; the account stands at zero.",
        "We have booked your money against this invoice and closed it.",
        "Status: paid in full.",
        "This invoice has been paid.",
        "PAID - with thanks.",
        "You do not owe us anything for these goods any more.",
        "Please treat this as your receipt; our books show the sum as received.",
        "Our bookkeeper ticked this one off, so file it away.",
        "Many thanks, the funds arrived and we are square.",
        "No action is needed, as you have already settled this bill.",
        "Payment status: settled, balance nil.",
        "We can confirm that the full sum has come in.",
    ),
    "open": phrases(
        "Kindly arrange the payment within the agreed term.",
        "We look forward to receiving your payment in the coming weeks.",
        "Please quote our reference when you send the money.",
        "The amount can be settled at your convenience within the term.",
        "We would be glad to have the sum within the usual term.",
        "Payment may be made in the ordinary way; the term has only just begun.",
        "Status: open, not yet due.",
        "This invoice is still unpaid, but its term is running.",
        "Outstanding; within the payment term.",
        "You have not paid yet, and you need not hurry: the term is far from over.",
        "There is ample time left before the money has to be with us.",
        "We have just sent this bill out and now await your money in the normal course.",
        "Please pass this on to your accounts team, who have the full term to settle it.",
        "Nothing is late yet: simply pay within the normal period.",
        "Payment status: awaited, deadline still ahead.",
        "The bill is new, so all we ask is that you settle it by the end of its term.",
    ),
    "overdue": phrases(
        "The term has passed and we still have not seen your payment.",
        "This is our second request; the sum should have reached us some time ago.",
        "Despite our reminder the account remains unsettled, and interest now accrues.",
        "You are now several weeks late, so please pay at once.",
        "We must insist on immediate settlement, since the deadline went by without a payment.",
        "If the money is not here this week we will hand the matter to a collection agency.",
        "Status: overdue.",
        "This invoice is past due and has not been paid.",
        "REMINDER - payment is late.",
        "The time allowed for payment ran out, and nothing has come in.",
        "We have waited well beyond the agreed term and shall soon charge a late fee.",
        "Our last two letters about this sum went unanswered; do not make us send a third.",
        "Your payment is long past its date and our patience is running out.",
        "Regrettably the deadline has gone by and our account shows no receipt from you.",
        "Payment status: in arrears, reminder sent.",
        "You let the term lapse without paying, so kindly settle up without further ado.",
    ),
    "disputed": phrases(
        "As you contest the quantity delivered, collection is paused until we have checked it.",
        "You told us that the price is not what was agreed; we hold the claim while we look into it.",
        "Your objection has been noted and nothing will be collected before it is decided.",
        "Because you reject part of this bill, our sales team is reviewing it first.",
        "We are examining your complaint about the charge and have stopped all reminders.",
        "The bill is on hold, since your buyer says that the goods were not those ordered.",
        "Status: disputed, on hold.",
        "The customer disputes this invoice, which is unpaid.",
        "CONTESTED - do not collect for now.",
        "You refuse to pay because of scratches on the goods, and our inspector will visit you.",
        "Your letter says that this bill is wrong; until that is cleared up we ask for nothing.",
        "Both sides still argue over whether the goods were as promised, so the claim rests.",
        "Until we agree whether these goods were faulty, as you claim, the bill is frozen.",
        "You have challenged this charge, and we are looking at the evidence before asking for money.",
        "Payment status: withheld by the buyer, who objects to the charge.",
        "Since you say that you never received everything listed here, we have suspended our claim.",
    ),
}
METHODS = {
    "transfer": phrases(
        "Payment route: the IBAN on file.",
        "Settlement through your bank, to our usual account.",
        "Agreed route: our account at the bank named overleaf.",
        "Payment method: bank transfer.",
        "Means of payment: credit transfer.",
        "This bill is settled by bank transfer.",
        "Pay channel: transfer.",
        "We work with bank transfers for your firm.",
        "Your firm tells its own bank to send the sum to ours.",
        "The IBAN and BIC for the payment stand at the foot of this page.",
        "For this customer: bank remittance, set off by you.",
        "Our bank details are the same as ever; your online banking has them saved.",
        "By wire to the account below.",
        "Method agreed with you: a transfer between our banks.",
        "Mode of payment: giro to our bank.",
        "Use our sort code and account number as the payee details.",
    ),
    "card": phrases(
        "Visa or Mastercard on our pay page.",
        "Settlement over the credit card stored with us.",
        "Settlement with the company card that you registered.",
        "Payment method: card.",
        "Means of payment: credit card.",
        "This bill goes on your card.",
        "Pay channel: card, online.",
        "You chose payment by card.",
        "We use the plastic that your buyer keeps on file with our shop.",
        "The card that you entered at checkout serves for this bill.",
        "Card holder and expiry month are known to us.",
        "The terminal accepts Visa, and so does our web shop.",
        "Your Mastercard is used for this bill.",
        "Method agreed with you: the corporate credit card.",
        "Mode of payment: Visa.",
        "The sum runs through the card reader at our counter.",
    ),
    "debit": phrases(
        "We collect the sum from your account under the mandate you signed.",
        "The amount is drawn automatically under your SEPA mandate.",
        "Collection by us from your bank, as you authorised.",
        "Payment method: direct debit.",
        "Means of payment: SEPA direct debit.",
        "This bill is settled by direct debit.",
        "Pay channel: automatic collection from your bank account.",
        "You have given us a direct debit authority.",
        "Our bank draws the money from yours; you need not send it.",
        "Your signed mandate lets us take such sums from your account.",
        "For this customer we draw on the bank account by mandate.",
        "As the mandate allows, we fetch what is owed straight from your bank.",
        "We pull the money under your standing mandate.",
        "Method agreed with you: debiting your bank account on our initiative.",
        "Mode of payment: collection under a mandate.",
        "Your bank has your permission to honour our debit request.",
    ),
}
ISSUED = phrases(
    "Invoice date: {d}",
    "Date of issue: {d}",
    "Issued {d}",
    "Billed on {d}",
    "Drawn up on {d}",
    "Issue date: {d}",
    "This invoice was issued on {d}",
    "Invoice of {d}",
    "Bill written {d}",
    "Dated {d}",
    "Made out on {d}",
    "Day of invoicing: {d}",
)
DUE = phrases("Due date: {d}", "Payable by {d}", "Payment expected by {d}", "Pay no later than {d}", "Term ends {d}",
              "To be settled by {d}", "Deadline for payment: {d}", "Payment due {d}", "Term of payment runs until {d}",
              "Last day for payment: {d}", "The money is due on {d}", "Pay on or before {d}")  # fmt: skip
NO_DUE = phrases("Payable on receipt", "Term as in the framework contract", "Payment term: see our conditions",
                 "Due date: none stated", "Term: as agreed between us", "Payment conditions unchanged",
                 "Settlement as our standing agreement provides", "The term of our general conditions holds",
                 "Time for payment: as always", "Usual term applies", "Payable in line with our contract",
                 "No day is fixed for payment")  # fmt: skip
OTHER_DAY = phrases("Goods delivered {d}", "Your order of {d}", "Shipped on {d}", "Quote accepted {d}",
                    "Service period began {d}", "Dispatched from our depot {d}", "Delivery date: {d}",
                    "Quotation dated {d}", "Goods left our warehouse {d}", "Contract of {d}", "Order received {d}",
                    "Handed to the carrier {d}")  # fmt: skip
OTHER_NUMBER = phrases("Replaces cancelled invoice {n}", "Previous bill: {n}", "Not to be confused with {n}",
                       "See also our earlier invoice {n}", "Follows last month's {n}", "Delivery note {n}",
                       "Quotation number: {n}", "Last quarter's bill was {n}", "Filed next to the older invoice {n}",
                       "Supersedes draft {n}", "Our pro forma was {n}",
                       "A withdrawn bill bore the number {n}")  # fmt: skip
ORDER = phrases(
    "Your order: {n}",
    "PO number {n}",
    "Purchase order {n}",
    "Ordered under {n}",
    "Order reference {n}",
    "Customer order no. {n}",
    "PO: {n}",
    "Your purchase order number is {n}",
    "Placed by you as order {n}",
    "Buyer's PO: {n}",
    "Order no. at the buyer: {n}",
    "The goods were ordered as {n}",
)
LINE = phrases("{q} x {name} at {p}", "{name} | {q} pcs | {p} each", "{name}, {q} units, unit price {p}",
               "{q} pcs {name} @ {p}", "- {name} ({q}), {p} apiece",
               "Article: {name}; quantity: {q}; price per piece: {p}", "* {name} - qty {q} - each {p}",
               "{p} each | {q} of them | {name}", "{name} at {p} apiece, {q} supplied",
               "{name}: {q} off, {p} per piece", "{q} units | {name} | {p} per unit",
               "{name} (single price {p}), number of pieces {q}")  # fmt: skip
SUBTOTAL = phrases("Net: {a}", "Subtotal {a}", "Before tax: {a}", "Sum of goods {a}", "Net amount {a}",
                   "Goods without tax: {a}", "Net value of the articles {a}", "Articles before VAT: {a}",
                   "Net price of all goods {a}", "Goods value {a}", "Merchandise, untaxed: {a}",
                   "Net sum {a}")  # fmt: skip
TAX = phrases("VAT: {a}", "Tax {a}", "Sales tax {a}", "plus VAT {a}", "Value added tax: {a}", "VAT amount {a}",
              "Tax charged: {a}", "Tax on the goods {a}", "plus tax of {a}", "VAT added: {a}", "Tax share {a}",
              "VAT on top {a}")  # fmt: skip
SHIPPING = phrases("Shipping {a}", "Freight: {a}", "Carriage {a}", "Delivery charge {a}", "Shipping costs: {a}",
                   "Transport {a}", "Haulage: {a}", "Shipping and handling {a}", "For delivery to you {a}",
                   "Postage {a}", "Forwarding: {a}", "Carrier's fee {a}")  # fmt: skip
TOTAL = phrases(
    "Total: {a}",
    "Amount due {a}",
    "Grand total {a}",
    "Invoice total: {a}",
    "In all {a}",
    "Sum to pay: {a}",
    "Total amount {a}",
    "Gross total: {a}",
    "Total with all charges {a}",
    "Payable: {a}",
    "Final amount {a}",
    "Overall sum of this invoice: {a}",
)
DISTRACTING_SUM = phrases("Turnover with you last year: {a}", "Credit limit {a}", "Balance of your previous bill: {a}",
                          "Orders above {a} ship free", "Average order so far: {a}", "Last month's invoice came to {a}",
                          "Minimum order value: {a}", "The consignment was insured for {a}",
                          "Rebates start at orders of {a}", "Deposit held: {a}", "Your largest order to date: {a}",
                          "Your purchases in the past quarter {a}")  # fmt: skip
LAYOUTS = phrases(
    "INVOICE {number}\n{vendor}, {address}\n\nBill to: {customer}\n{dates}\n{order}\n\n{lines}\n\n{sums}\n\n{state} {method}",
    "{vendor}\n{address}\n\n{references}\nTo: {customer}, attn. {contact}\n{dates}\n\n{lines}\n\n{sums}\n{state}\n{method}",
    "Subject: Invoice {number}\nFrom: {clerk} <{clerk_mail}>\n\nDear {contact},\n\n{vendor} has billed {customer} for the goods below. "
    "{dates_inline}. {order}\n\n{lines}\n\n{sums_inline}. {state} {method}\n\nKind regards\n{clerk}",
    "{other_number}\n\nInvoice no. {number}\nSeller: {vendor}\nBuyer: {customer}\n{order}\n{dates}\n\n{lines}\n{sums}\n\n{method} {state}",
    "Hello {contact},\n\n{state} It concerns our invoice {number} to {customer}. {dates_inline}. {order}\n\n{lines}\n\n"
    "{sums_inline}.\n{method}\n\n{clerk}\n{vendor}",
    "Customer: {customer}\nSupplier: {vendor} ({address})\n{sums}\n{dates}\nDocument: {number}\n{order}\n\nDetails\n{lines}\n\n{state} {method}",
    "Seller | {vendor}\nSeller's address | {address}\nBuyer | {customer}\nThis invoice | {number}\nNote | {other_number}\n\n{dates}\n"
    "{order}\n\nArticles\n{lines}\n\n{sums}\n\nPayment | {state} {method}",
    "With invoice {number} the firm {vendor}, of {address}, charges {customer} for what it supplied. {dates_inline}. {order}\n\n"
    "{lines}\n\nThe figures are these: {sums_inline}. {method} {state}",
    "{customer}\nFor the attention of {contact}\n\n{other_number}\nOur invoice {number}\n\nDear {contact},\n\non behalf of {vendor} "
    "I send you the bill for the goods that you had from us.\n\n{lines}\n\n{sums}\n\n{dates_inline}. {order} {state} {method}\n\n"
    "Yours sincerely\n{clerk}, accounts department",
    "{method}\n{state}\n\nBill {number}: from {vendor}, to {customer}.\n{sums_inline}.\n{order}\n{lines}\n{dates}\n\n"
    "Queries: {clerk}, {clerk_mail}",
    "* Issued by: {vendor}\n* Issued to: {customer}\n* Contact at the buyer: {contact}\n* Clerk at the seller: {clerk}\n\n{references}\n"
    "{dates}\n\nWhat you bought:\n{lines}\n\nWhat it costs:\n{sums}\n\n{method} {state}",
    "To: {contact}\nFrom: {clerk_mail}\nRe: bill {number}\n\nGood morning {contact},\n\nhere is what {customer} bought from us.\n\n"
    "{lines}\n\n{sums_inline}. {order} {dates_inline}.\n\n{state} {method}\n\n{clerk} for {vendor}, {address}",
    "To {customer}\n\n{other_number}. The present bill, {number}, comes from {vendor}. {dates_inline}.\n\n{lines}\n\n{sums_inline}. "
    "{order}\n\n{state} {method}",
    "{contact} / {customer}\n\n{dates}\n{references}\n\n{state}\n\n{sums}\n\nPositions\n{lines}\n\n{method}\n{vendor}, {address}",
    "Supplied by: {vendor}, {address}\nCharged to: {customer}, care of {contact}\n\n{references}\n\n{lines}\n\n{dates}\n\n{sums}\n\n"
    "{method} {state}",
    "{other_number}\n{dates}\n\n{state}\n\nBill {number} was made out by {vendor} to {customer} for the goods below; "
    "questions go to {clerk} ({clerk_mail}).\n{order}\n\n{lines}\n\n{sums_inline}. {method}",
)
SUMMARY = {
    "paid": "{v} billed {c} for {n}, which is paid.",
    "open": "{v} bills {c} for {n}, payable within the term.",
    "overdue": "{v} reminds {c} of the overdue invoice for {n}.",
    "disputed": "{v} billed {c} for {n}, which is disputed.",
}


def compose(draw: Draw) -> dict[str, Part]:
    """Draw an invoice; its amounts add up."""
    state = draw.one(STATES)
    draw.know("state", state)
    draw.know("owed", state != "paid")
    draw.know("currency", draw.currency)
    vendor, customer = draw.company(), draw.company()
    number, other, order = draw.several_codes(draw.one(("INV-", "R", "2026/", "F-")), 3)
    lines, goods, net = _lines(draw)
    draw.know("summary", SUMMARY[state].format(v=vendor, c=customer, n=goods))
    dates = _dates(draw)
    sums = _sums(draw, net)
    method = draw.one((*METHODS, None))
    draw.know("method", method)
    has_order = draw.chance(0.5)
    ordered = draw.phrase(ORDER, n=draw.say("order", order)) if has_order else ""
    if not has_order:
        draw.know("order", None)
    clerk, contact = draw.person(), draw.person()
    other_number = draw.phrase(OTHER_NUMBER, n=other)
    said_number = draw.say("number", number)
    return {
        "number": said_number,
        "other_number": other_number,
        "references": join("\n", draw.shuffled([other_number, "Invoice number: " + said_number, ordered])),
        "vendor": draw.say("vendor", vendor),
        "customer": draw.say("customer", customer),
        "address": draw.address(),
        "clerk": clerk.full,
        "clerk_mail": clerk.email,
        "contact": contact.full,
        "order": ordered + ("." if has_order else ""),
        "dates": join("\n", dates),
        "dates_inline": join("; ", dates),
        "lines": join("\n", lines),
        "sums": join("\n", sums),
        "sums_inline": join(", ", sums),
        "state": draw.phrase(STATE[state]),
        "method": draw.phrase(METHODS[method]) if method else "",
    }


def _lines(draw: Draw) -> tuple[Sequence[Part], str, int]:
    """The article lines, the goods in words and their net amount in cents."""
    count = draw.one((1, 1, 2, 2, 3))
    form = draw.wording(LINE)
    names = draw.several(words.GOODS, count)
    draw.know("lines", count)
    net, lines = 0, []
    for i, name in enumerate(names):
        quantity, price = draw.rng.randrange(2, 40), draw.cents(4, 420)
        net += quantity * price
        lines.append(
            template(
                form,
                q=draw.say(f"lines/{i}/quantity", quantity),
                name=draw.say(f"lines/{i}/name", name),
                p=draw.say_money(f"lines/{i}/price", price),
            )
        )
    goods = names[0] if count == 1 else f"{names[0]} and other goods"
    return lines, goods, net


def _dates(draw: Draw) -> Sequence[Part]:
    """Date of issue, due date (or none) and a date that is neither, in any order."""
    dates = [draw.phrase(ISSUED, d=draw.say_day("issued", draw.today))]
    dates.append(draw.phrase(OTHER_DAY, d=draw.print_day(draw.day(-40, -3))))
    if draw.chance(0.65):
        dates.append(draw.phrase(DUE, d=draw.say_day("due", draw.day(10, 60))))
    else:
        draw.know("due", None)
        dates.append(draw.phrase(NO_DUE))
    return draw.shuffled(dates)


def _sums(draw: Draw, net: int) -> Sequence[Part]:
    """Net, tax, freight (or none), total and an amount that belongs to none of them."""
    tax = net * draw.one((5, 10, 19, 20, 25)) // 100
    freight = draw.cents(5, 60) if draw.chance(0.5) else 0
    draw.know("freight", as_number(freight) if freight else None)
    sums = [draw.phrase(SUBTOTAL, a=draw.say_money("net", net)), draw.phrase(TAX, a=draw.say_money("tax", tax))]
    if freight:
        sums.append(draw.phrase(SHIPPING, a=draw.say_money("freight", freight)))
    sums.append(draw.phrase(TOTAL, a=draw.say_money("total", net + tax + freight)))
    if draw.chance(0.6):
        sums.insert(draw.rng.randrange(len(sums)), draw.phrase(DISTRACTING_SUM, a=draw.money(draw.cents(90, 9000))))
    return sums


VARIANTS = {
    "accounts": s.group(
        {
            "invoice_number": s.text("number"),
            "supplier": s.text("vendor", "Company that issues the invoice."),
            "customer": s.text("customer"),
            "issue_date": s.day("issued"),
            "due_date": s.day("due", null=True),
            "currency": s.choice("currency", {c: c for c in ("USD", "GBP", "EUR", "CAD", "SEK", "CHF")}),
            "total": s.core(s.number("total", "Amount including tax and shipping.", minimum=0)),
            "tax": s.number("tax"),
            "shipping": s.number("freight", null=True),
            "status": s.choice("state", {k: k for k in STATE}, "Where the payment stands."),
            "line_items": s.items(
                "lines",
                s.group({"article": s.text("name"), "quantity": s.integer("quantity"), "unit_price": s.number("price")}),
            ),
            "summary": s.written("summary", "One sentence on who billed whom for what, and the payment."),
        }
    ),
    "ledger": s.group(
        {
            "doc_no": s.text("number", "Number of this invoice."),
            "parties": s.group({"seller": s.text("vendor"), "buyer": s.text("customer")}),
            "net_amount": s.core(s.number("net")),
            "gross_amount": s.number("total"),
            "freight": s.number("freight", optional=True),
            "purchase_order": s.text("order", "Order number of the buyer.", null=True),
            "payment_deadline": s.day("due", optional=True),
            "money_outstanding": s.yes_no("owed", "Is any of it still to be paid?"),
            "payment_method": s.choice(
                "method", {"transfer": "bank transfer", "card": "card", "debit": "direct debit"}, null=True
            ),
            "articles": s.items("lines", s.group({"name": s.text("name"), "qty": s.integer("quantity")})),
        }
    ),
    "collection": s.group(
        {
            "creditor": s.text("vendor"),
            "debtor": s.text("customer"),
            "reference": s.text("number", "Invoice number."),
            "billed_on": s.day("issued"),
            "pay_by": s.day("due", null=True),
            "claim": s.core(s.number("total", "Sum to pay in all.")),
            "stage": s.choice(
                "state",
                {
                    "paid": ("closed", "The money has arrived."),
                    "open": ("waiting", "The term is still running."),
                    "overdue": ("dunning", "The term has passed without payment."),
                    "disputed": ("contested", "The customer objects."),
                },
            ),
            "order_number": s.text("order", optional=True),
            "goods": s.items("lines", s.text("name"), "Names of the articles."),
            "note": s.written("summary", "One sentence on who billed whom for what, and the payment."),
        }
    ),
}  # fmt: skip
INVOICE = Kind("invoice", LAYOUTS, compose, VARIANTS)
