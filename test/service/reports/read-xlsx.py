"""Reads workbooks as openpyxl does: each line in is a path, each line out its sheets as JSON, every cell with its cached
value, type, formula and format. Path, tab, `values of`, tab, title: one sheet, its cells alone, however large the others
are. Path, tab, `save as`, tab, path: saved there without its cached values, and no sheets; with further fields, a sheet's
title and the numbers of its rows that a filter hides. Path, tab, `fill in`, tab, path, tab, values by cell of the first sheet as JSON: saved
there. Path, tab, `validations`: the type, cells and formula of each data validation of the first sheet."""
import datetime
import gc
import json
import sys
from typing import Any, NamedTuple

import openpyxl
from openpyxl.worksheet._reader import FORMULA_TAG, WorkSheetParser

# a workbook is thousands of objects that live until its answer
gc.set_threshold(200_000)


class Computed(NamedTuple):
    """The value of a cell with a formula."""

    cached: Any
    formula: str


parse_cell = WorkSheetParser.parse_cell


def parse_both(parser, element):
    """openpyxl keeps a formula or its cached value: both in one load take half as long as a load for each."""
    parsed = parse_cell(parser, element)
    if parser.data_only and element.find(FORMULA_TAG) is not None:
        parsed['value'] = Computed(parsed['value'], parser.parse_formula(element))
    return parsed


WorkSheetParser.parse_cell = parse_both


def style(shown):
    return {'format': shown.number_format, 'fill': shown.fill.fgColor.rgb if shown.fill.fill_type else None}


def cell(shown, style_of):
    value = shown.value
    if value is None:
        return None
    value, formula = value if isinstance(value, Computed) else (value, None)
    kind = 'text'
    if isinstance(value, (datetime.datetime, datetime.date)):
        kind, value = 'date', value.isoformat(sep=' ')
    elif isinstance(value, (int, float)):
        kind = 'number'
    return {'value': value, 'kind': kind, 'formula': formula, **style_of(shown)}


def chart(one):
    anchor = one.anchor

    def cells(source):
        reference = source.numRef or source.strRef
        cache = reference.numCache if source.numRef else reference.strCache
        return {'cells': reference.f, 'values': [point.v for point in cache.pt]}

    return {
        'title': ''.join(run.t for paragraph in one.title.tx.rich.p for run in paragraph.r),
        'rows': [anchor._from.row + 1, anchor.to.row],
        'series': [
            {'name': line.tx.strRef.f, 'categories': cells(line.cat), 'values': cells(line.val)} for line in one.series
        ],
    }


def read(path):
    workbook = openpyxl.load_workbook(path, data_only=True)
    styles = {}

    def style_of(shown):
        return styles.get(shown.style_id) or styles.setdefault(shown.style_id, style(shown))

    return [
        {
            'title': sheet.title,
            'freeze': sheet.freeze_panes,
            'filter': sheet.auto_filter.ref,
            'printTitles': sheet.print_title_rows,
            'charts': [chart(one) for one in sheet._charts],
            'landscape': sheet.page_setup.orientation == 'landscape' and sheet.page_setup.paperSize == 9,
            'rows': [[cell(one, style_of) for one in row] for row in sheet.iter_rows()],
        }
        for sheet in workbook.worksheets
    ]


def read_values(path, title):
    sheet = openpyxl.load_workbook(path, read_only=True, data_only=True)[title]
    rows = [[cell(one, style) for one in row] for row in sheet.iter_rows()]
    settings = {'freeze': None, 'filter': None, 'printTitles': None, 'landscape': False, 'charts': []}
    return [{'title': title, 'rows': rows, **settings}]


def save(path, target, title=None, hidden=''):
    workbook = openpyxl.load_workbook(path)
    for row in hidden.split():
        workbook[title].row_dimensions[int(row)].hidden = True
    workbook.save(target)


def fill(path, target, values):
    workbook = openpyxl.load_workbook(path)
    for address, value in json.loads(values).items():
        workbook.worksheets[0][address] = value
    workbook.save(target)


def read_validations(path):
    sheet = openpyxl.load_workbook(path).worksheets[0]
    return [[one.type, str(one.sqref), one.formula1] for one in sheet.data_validations.dataValidation]


def answer(line):
    path, *more = line.split('\t')
    try:
        if more[:1] == ['values of']:
            return {'sheets': read_values(path, more[1])}
        if more[:1] == ['save as']:
            save(path, *more[1:])
            return {'sheets': []}
        if more[:1] == ['fill in']:
            fill(path, *more[1:])
            return {'sheets': []}
        if more[:1] == ['validations']:
            return {'sheets': read_validations(path)}
        return {'sheets': read(path)}
    except Exception as error:
        return {'error': repr(error)}


for line in sys.stdin:
    print(json.dumps(answer(line.rstrip('\n'))), flush=True)
