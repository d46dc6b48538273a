"""Prints the statements of an OFX file as JSON, as the library ofxparse reads them."""
import codecs
import json
import sys

from ofxparse import OfxParser

with open(sys.argv[1], 'rb') as file:
    ofx = OfxParser.parse(file)
print(json.dumps([
    {
        'id': account.account_id,
        'balance': str(account.statement.balance),
        'available': str(account.statement.available_balance),
        'asOf': account.statement.balance_date.isoformat(),
        'transactions': [
            {'id': one.id, 'amount': str(one.amount), 'day': one.date.date().isoformat(), 'name': one.payee,
             'memo': one.memo, 'type': one.type}
            for one in account.statement.transactions
        ],
    }
    for account in ofx.accounts
]))
