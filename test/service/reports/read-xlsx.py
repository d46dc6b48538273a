"""Prints a workbook as JSON, as openpyxl reads it: every cell with its cached value, type, formula and format."""
import datetime
import json
import sys

import openpyxl

formulas = openpyxl.load_workbook(sys.argv[1])
values = openpyxl.load_workbook(sys.argv[1], data_only=True)


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


print(json.dumps([
    {
        'title': sheet.title,
        'freeze': sheet.freeze_panes,
        'filter': sheet.auto_filter.ref,
        'printTitles': sheet.print_title_rows,
        'landscape': sheet.page_setup.orientation == 'landscape' and sheet.page_setup.paperSize == 9,
        'rows': [[cell(one, values[sheet.title][one.coordinate]) for one in row] for row in sheet.iter_rows()],
    }
    for sheet in formulas.worksheets
]))
