"""Reads workbooks as openpyxl does: each line in is a path, each line out its sheets as JSON, every cell with its cached
value, type, formula and format. Path, tab, `values of`, tab, title: one sheet, its values alone, however large the others
are. Path, tab, `save as`, tab, path: saved there without its cached values, and no sheets."""
import datetime
import json
import sys

import openpyxl


def cell(shown, cached):
    if shown.value is None:
        return None
    value = cached.value
    kind = 'text'
    if isinstance(value, (datetime.datetime, datetime.date)):
        kind, value = 'date', value.isoformat(sep=' ')
    elif isinstance(value, (int, float)):
        kind = 'number'
    formula = shown.value if shown.data_type == 'f' else None
    return {'value': value, 'kind': kind, 'formula': formula, 'format': shown.number_format}


def read(path):
    formulas = openpyxl.load_workbook(path)
    values = openpyxl.load_workbook(path, data_only=True)
    return [
        {
            'title': sheet.title,
            'freeze': sheet.freeze_panes,
            'filter': sheet.auto_filter.ref,
            'printTitles': sheet.print_title_rows,
            'landscape': sheet.page_setup.orientation == 'landscape' and sheet.page_setup.paperSize == 9,
            'rows': [
                [cell(one, other) for one, other in zip(row, cached)]
                for row, cached in zip(sheet.iter_rows(), values[sheet.title].iter_rows())
            ],
        }
        for sheet in formulas.worksheets
    ]


def read_values(path, title):
    sheet = openpyxl.load_workbook(path, read_only=True, data_only=True)[title]
    rows = [[cell(one, one) for one in row] for row in sheet.iter_rows()]
    return [{'title': title, 'freeze': None, 'filter': None, 'printTitles': None, 'landscape': False, 'rows': rows}]


def answer(line):
    path, *more = line.split('\t')
    try:
        if more[:1] == ['values of']:
            return {'sheets': read_values(path, more[1])}
        if more[:1] == ['save as']:
            openpyxl.load_workbook(path).save(more[1])
            return {'sheets': []}
        return {'sheets': read(path)}
    except Exception as error:
        return {'error': repr(error)}


for line in sys.stdin:
    print(json.dumps(answer(line.rstrip('\n'))), flush=True)
