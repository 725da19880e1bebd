import type { Migration } from '../src/platform/migrations/index.ts'

/** A table after the migrations. */
export type TableAbout = {
  name: string
  columns: { name: string; type: string; rules: string }[]
  /** Keys, indexes, engine: everything else in the table's statements. */
  keys: string[]
  /** Which of `keys` are named indexes. */
  indexes: Map<string, string>
}

/**
 * The tables that migrations create, sorted by name. It parses the statements that our migrations
 * use and throws for any other, so that the page is never incomplete without notice.
 */
export function tablesOf(migrations: readonly Migration[]): TableAbout[] {
  const tables = new Map<string, TableAbout>()
  for (const { name, statements } of migrations) {
    for (const { text } of statements) {
      const reader = readers.find(({ pattern }) => pattern.test(withoutComments(text)))
      if (reader === undefined) {
        throw new Error(`${name}: can not be read for the page of tables: ${text.slice(0, 80)}`)
      }
      reader.read(tables, text)
    }
  }
  return [...tables.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

type Reader = { pattern: RegExp; read(tables: Map<string, TableAbout>, text: string): void }

const tableName = String.raw`(?:\{\{table:(\w+)\}\}|(\w+))`
const createTable = new RegExp(`^create table (?:if not exists )?${tableName}`)
const alterTable = new RegExp(`^alter table ${tableName}`)
const createIndex =
  /^create (unique )?index (?:concurrently )?(?:if not exists )?(\w+)\s+on (\w+)\s*(.*)$/s
const dropIndex = /^drop index (\w+)$/
/** A change of rows, a function of triggers, a rebuilt index: none changes a table. */
const noTable = /^(update|delete from|with|create (or replace )?function|reindex index) /
const createTrigger = /^create trigger (\w+) (.*?) on (\w+)\s/s
const addColumn = /^add column (?:if not exists )?(\w+) (.*?)(?: after \w+)?$/s

const modifySetting =
  /\bmodify setting (?:\{\{if_known:)?(\w+ = (?:\w+|'')(?:, \w+ = \w+)*)(?:\}\})?$/

/** An index of ClickHouse that skips parts of a table. */
const addIndex = /\badd index (?:if not exists )?(.*)$/s

/** A wider check of a column, under the name that PostgreSQL gave the first one. */
const replaceCheck =
  /^alter table (\w+)\s+drop constraint \1_(\w+)_check,\s+add constraint \1_\2_check\s+(check .*?)(?: not valid)?$/s

const readers: readonly Reader[] = [
  { pattern: /^\{\{distributed(_alter)?:/, read: () => undefined },
  { pattern: createTable, read: readTable },
  { pattern: replaceCheck, read: readCheck },
  { pattern: alterTable, read: readAlteration },
  { pattern: createIndex, read: readIndex },
  { pattern: dropIndex, read: readDroppedIndex },
  { pattern: createTrigger, read: readTrigger },
  { pattern: noTable, read: () => undefined },
]

function readTable(tables: Map<string, TableAbout>, text: string): void {
  const sql = withoutComments(text)
  const [, ours, plain] = createTable.exec(sql) ?? []
  const name = ours ?? plain ?? ''
  const open = sql.indexOf('(')
  const close = closingOf(sql, open)
  const table: TableAbout = {
    name,
    columns: [],
    keys: [],
    indexes: new Map(),
  }
  for (const part of partsOf(sql.slice(open + 1, close))) {
    if (/^(primary key|unique|check|index|constraint|foreign key)\b/.test(part)) {
      table.keys.push(part)
    } else table.columns.push(columnOf(part))
  }
  for (const line of sql.slice(close + 1).split('\n')) {
    if (/^(engine|partition|order)\b/.test(line)) table.keys.push(plainEngine(line))
  }
  tables.set(name, table)
}

function readAlteration(tables: Map<string, TableAbout>, text: string): void {
  const sql = withoutComments(text)
  const [, ours, plain] = alterTable.exec(sql) ?? []
  const table = tableNamed(tables, ours ?? plain ?? '')
  const [, setting] = modifySetting.exec(sql) ?? []
  if (setting !== undefined) {
    table.keys.push(`setting ${setting}`)
    return
  }
  const [, index] = addIndex.exec(sql) ?? []
  if (index !== undefined) {
    table.keys.push(`index ${oneLine(index)}`)
    return
  }
  for (const part of partsOf(sql.slice(sql.indexOf('add column')))) {
    const [, name, rest] = addColumn.exec(part) ?? []
    if (name === undefined) throw new Error(`can not be read for the page of tables: ${part}`)
    table.columns.push(columnOf(`${name} ${rest}`))
  }
}

function readCheck(tables: Map<string, TableAbout>, text: string): void {
  const [, table = '', name = '', check = ''] = replaceCheck.exec(withoutComments(text)) ?? []
  const column = tableNamed(tables, table).columns.find((one) => one.name === name)
  if (column?.rules.includes('check (') !== true)
    throw new Error(`no migration makes a check of the column ${JSON.stringify(name)}`)
  column.rules = column.rules.replace(/check \(.*\)/, oneLine(check))
}

function readIndex(tables: Map<string, TableAbout>, text: string): void {
  const [, unique = '', index = '', table = '', rest = ''] =
    createIndex.exec(withoutComments(text)) ?? []
  const { keys, indexes } = tableNamed(tables, table)
  const key = `${unique}index ${oneLine(rest)}`
  keys.push(key)
  indexes.set(index, key)
}

function readTrigger(tables: Map<string, TableAbout>, text: string): void {
  const [, trigger = '', when = '', table = ''] = createTrigger.exec(withoutComments(text)) ?? []
  tableNamed(tables, table).keys.push(`trigger ${trigger} ${oneLine(when)}`)
}

function readDroppedIndex(tables: Map<string, TableAbout>, text: string): void {
  const [, index = ''] = dropIndex.exec(withoutComments(text)) ?? []
  for (const table of tables.values()) {
    const key = table.indexes.get(index)
    if (key === undefined) continue
    table.keys = table.keys.filter((one) => one !== key)
    table.indexes.delete(index)
    return
  }
  throw new Error(`no migration makes the index ${JSON.stringify(index)}`)
}

function tableNamed(tables: ReadonlyMap<string, TableAbout>, name: string): TableAbout {
  const table = tables.get(name)
  if (table === undefined) throw new Error(`no migration makes the table ${JSON.stringify(name)}`)
  return table
}

/** Where a column's type ends and its constraints begin. */
const rulesBegin = / (?=(?:not null|null|primary key|references|default|unique|check|codec)\b)/

function columnOf(part: string): TableAbout['columns'][number] {
  const space = part.indexOf(' ')
  const [type = '', ...rules] = part.slice(space + 1).split(rulesBegin)
  return { name: part.slice(0, space), type, rules: rules.join(' ') }
}

/** `{{engine:X}}` is X, replicated in a cluster. */
function plainEngine(line: string): string {
  return line.replace(/\{\{engine:(.*)\}\}/, '$1')
}

function withoutComments(text: string): string {
  return text.replace(/^\s*--.*\n?/gm, '').trim()
}

/** The parts between commas outside parentheses. */
function partsOf(list: string): string[] {
  const parts = ['']
  let depth = 0
  for (const char of list) {
    if (char === '(') depth += 1
    if (char === ')') depth -= 1
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts.map(oneLine)
}

function closingOf(sql: string, open: number): number {
  let depth = 0
  for (let at = open; at < sql.length; at += 1) {
    if (sql[at] === '(') depth += 1
    if (sql[at] === ')') depth -= 1
    if (depth === 0) return at
  }
  throw new Error(`a parenthesis is not closed: ${sql.slice(0, 80)}`)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
