import type { Migration } from '../src/platform/migrations/index.ts'

/** A column with its type, its rules as SQL, and the comment above it. */
export type ColumnAbout = { name: string; type: string; rules: string; about: string }

/** A table after the migrations. */
export type TableAbout = {
  name: string
  /** The room of the last heading, `-- # Access: …`, above the statement that creates it. */
  room: string
  /** The comment directly above that statement. */
  about: string
  columns: ColumnAbout[]
  /** Keys, indexes, engine: everything else in the table's statements. */
  keys: string[]
}

type Tables = Map<string, TableAbout>

/**
 * The tables that migrations create, sorted by name. It parses the statements that our migrations
 * use and throws for any other, so that the page is never incomplete without notice.
 */
export function tablesOf(migrations: readonly Migration[]): TableAbout[] {
  const tables: Tables = new Map()
  let room = ''
  for (const { name, statements } of migrations) {
    for (const { text } of statements) {
      room = /^-- # (\w+)/m.exec(text)?.[1] ?? room
      for (const part of statementsIn(text)) {
        const reader = readers.find(({ pattern }) => pattern.test(withoutComments(part)))
        if (reader === undefined) {
          throw new Error(`${name}: can not be read for the page of tables: ${part.slice(0, 80)}`)
        }
        reader.read(tables, part, room)
      }
    }
  }
  return [...tables.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The statements of one step of a migration. A function is a step of its own. */
function statementsIn(text: string): string[] {
  return createFunction.test(withoutComments(text)) ? [text] : text.split(/;\n/)
}

const tableName = String.raw`(?:\{\{table:(\w+)\}\}|(\w+))`
const createTable = new RegExp(`^create table (?:if not exists )?${tableName}`)
const addColumns = new RegExp(
  `^alter table ${tableName}\\s+(?:\\{\\{on_cluster\\}\\}\\s+)?(?=add column|@)`,
)
const createIndex =
  /^create (unique )?index (?:concurrently )?(?:if not exists )?\w+\s+on (\w+)\s*(.*)$/s
const createFunction = /^create (?:or replace )?function /
const createTrigger = /^create trigger (\w+) (.*?) on (\w+)\s/s
const addColumn = /^add column (?:if not exists )?(.*?)(?: after \w+)?$/s

type Reader = { pattern: RegExp; read(tables: Tables, text: string, room: string): void }

const readers: readonly Reader[] = [
  { pattern: /^\{\{distributed(_alter)?:/, read: () => undefined },
  { pattern: createTable, read: readTable },
  { pattern: addColumns, read: readAddedColumns },
  { pattern: createIndex, read: readIndex },
  { pattern: createTrigger, read: readTrigger },
  { pattern: createFunction, read: () => undefined },
]

function readTable(tables: Tables, text: string, room: string): void {
  const { sql, comments } = markComments(text)
  const start = sql.indexOf('create table')
  const name = nameIn(createTable, sql.slice(start))
  const open = sql.indexOf('(', start)
  const close = closingOf(sql, open)
  const table: TableAbout = { name, room, about: commentAbove(text), columns: [], keys: [] }
  for (const part of partsOf(sql.slice(open + 1, close))) {
    const plain = part.replace(marks, '').trim()
    if (/^(primary key|unique|check|index|constraint|foreign key)\b/.test(plain)) {
      table.keys.push(plain)
    } else table.columns.push(columnOf(part, comments))
  }
  const clauses = sql.slice(close + 1).split(/\n(?=(?:partition|order|ttl|settings)\b)/)
  table.keys.push(...clauses.map((clause) => plainClause(oneLine(clause))).filter(Boolean))
  tables.set(name, table)
}

function readAddedColumns(tables: Tables, text: string): void {
  const { sql, comments } = markComments(text)
  const change = sql.slice(sql.indexOf('alter table'))
  const table = tableNamed(tables, nameIn(addColumns, change))
  for (const part of partsOf(change.replace(addColumns, ''))) {
    const [, column] = addColumn.exec(part.replace(marks, '').trim()) ?? []
    if (column === undefined) throw new Error(`can not be read for the page of tables: ${part}`)
    table.columns.push(columnOf(`${marks.exec(part)?.[0] ?? ''}${column}`, comments))
  }
}

function readIndex(tables: Tables, text: string): void {
  const [, unique = '', table = '', rest = ''] = createIndex.exec(withoutComments(text)) ?? []
  tableNamed(tables, table).keys.push(`${unique}index ${oneLine(rest)}`)
}

function readTrigger(tables: Tables, text: string): void {
  const [, trigger = '', when = '', table = ''] = createTrigger.exec(withoutComments(text)) ?? []
  tableNamed(tables, table).keys.push(`trigger ${trigger} ${oneLine(when)}`)
}

function nameIn(pattern: RegExp, sql: string): string {
  const [, template, plain] = pattern.exec(sql) ?? []
  return template ?? plain ?? ''
}

function tableNamed(tables: Tables, name: string): TableAbout {
  const table = tables.get(name)
  if (table === undefined) throw new Error(`no migration makes the table ${JSON.stringify(name)}`)
  return table
}

/** Where a column's type ends and its constraints begin. */
const rulesBegin =
  / (?=(?:not null|null|primary key|references|default|unique|check|codec|generated)\b)/

function columnOf(part: string, comments: readonly string[]): ColumnAbout {
  const at = marks.exec(part)?.[1]
  const plain = part.replace(marks, '').trim()
  const space = plain.indexOf(' ')
  const [type = '', ...rules] = plain.slice(space + 1).split(rulesBegin)
  const about = at === undefined ? '' : (comments[Number(at)] ?? '')
  return { name: plain.slice(0, space), type, rules: rules.join(' '), about }
}

/** A clause after the columns: `{{engine:X}}` is X, replicated in a cluster. */
function plainClause(clause: string): string {
  return clause
    .replace(/\{\{engine:(.*)\}\}/, '$1')
    .replace(/\{\{if_known:(.*)\}\}/, ', $1')
    .replace(/^settings \{\{durability\}\}(, )?/, (_, more) => (more ? 'settings ' : ''))
}

/** The paragraph of comments directly above a statement. */
function commentAbove(text: string): string {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => line !== '' && !line.startsWith('--'))
  const above = lines.slice(0, end)
  return wordsOf(above.slice(above.lastIndexOf('') + 1))
}

/** A mark stands for a run of comment lines, whose commas and parentheses are not SQL. */
const marks = /@(\d+)@/

function markComments(text: string): { sql: string; comments: string[] } {
  const comments: string[] = []
  const sql = text.replace(/(?:^[ ]*--.*\n)+/gm, (run) => {
    comments.push(wordsOf(run.trimEnd().split('\n')))
    return `@${comments.length - 1}@ `
  })
  return { sql, comments }
}

function wordsOf(lines: readonly string[]): string {
  return oneLine(lines.map((line) => line.replace(/^\s*-- ?/, '')).join(' '))
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
