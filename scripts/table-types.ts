import { tableOverrides } from './table-overrides.ts'
import type { ColumnAbout, TableAbout } from './tables-of-migrations.ts'

const folder = 'src/platform/relational/tables'

/**
 * Types of the rows of PostgreSQL, a file for each room of the schema: docs/decisions/0050. A check
 * of listed texts is a union; what the schema cannot say is in table-overrides.ts.
 */
export function tableTypeFiles(
  tables: readonly TableAbout[],
  overrides: Overrides = tableOverrides,
): { path: string; content: string }[] {
  assertUsed(tables, overrides)
  const rooms = Map.groupBy(tables, ({ room }) => room)
  return [...rooms].map(([room, own]) => {
    const name = room.replaceAll(/(?<=[a-z])[A-Z]/g, '-$&').toLowerCase()
    return { path: `${folder}/${name}-tables.ts`, content: roomFile(room, own, overrides) }
  })
}

/** Types of values by `table.column`. */
type Overrides = Readonly<Record<string, string>>

/** Throws for an override of a column that does not exist. */
function assertUsed(tables: readonly TableAbout[], overrides: Overrides): void {
  const columns = tables.flatMap((table) =>
    table.columns.map(({ name }) => `${table.name}.${name}`),
  )
  for (const key of Object.keys(overrides)) {
    if (!columns.includes(key)) throw new Error(`table-overrides.ts: no column ${key}`)
  }
}

function roomFile(room: string, tables: readonly TableAbout[], overrides: Overrides): string {
  const body = tables.flatMap((table) => tableLines(table, overrides)).join('\n')
  const imports = [...modules].flatMap(([path, names]) => {
    const used = names.filter((name) => new RegExp(`\\b${name}\\b(?!:)`).test(body)).toSorted()
    return used.length === 0 ? [] : importLines(used, path)
  })
  return [
    ...imports,
    '',
    '/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */',
    `export interface ${room}Tables {`,
    body,
    '}',
    '',
  ].join('\n')
}

/** The types that columns name, by the module that exports them. */
const modules: ReadonlyMap<string, readonly string[]> = new Map([
  ['../../../model/audit-entry.ts', ['ActorKind', 'AuditOutcome', 'CallPath']],
  ['../../../model/managed-by.ts', ['ManagedBy']],
  [
    '../column-types.ts',
    [
      ...['ByDefault', 'Computed', 'Instant', 'InstantByDefault', 'InstantOrNull'],
      ...['Json', 'JsonByDefault', 'JsonOrNull', 'JsonRecord', 'OrNull'],
    ],
  ],
  [
    '../column-values.ts',
    ['ArchiveSchedule', 'RetentionDays', 'StoredMask', 'StoredParameter', 'TaskVerdict'],
  ],
])

/** In Biome's format, on one line if it fits. */
function importLines(names: readonly string[], path: string): string[] {
  const line = `import type { ${names.join(', ')} } from '${path}'`
  if (line.length <= 100) return [line]
  return ['import type {', ...names.map((name) => `  ${name},`), `} from '${path}'`]
}

function tableLines({ name, columns }: TableAbout, overrides: Overrides): string[] {
  const lines = columns.flatMap((column) => {
    const override = overrides[`${name}.${column.name}`]
    return propertyLines(column.name, columnType(column, override))
  })
  return [`  ${name}: {`, ...lines, '  }']
}

/** In Biome's format, with the members of a union below each other if they do not fit. */
function propertyLines(name: string, type: string): string[] {
  const line = `    ${name}: ${type}`
  const [, outer = '', inner = ''] = /^(\w+)<(.*)>$/.exec(type) ?? []
  if (line.length <= 100) return [line]
  if (outer !== '') return [`    ${name}: ${outer}<`, `      ${inner}`, '    >']
  return [`    ${name}:`, ...type.split(' | ').map((member) => `      | ${member}`)]
}

function columnType(column: ColumnAbout, override?: string): string {
  const { type, rules } = column
  const value = override ?? findUnion(column) ?? valueType(column)
  if (/generated always/.test(rules)) return `Computed<${value}>`
  const isNullable = !/not null|primary key/.test(rules)
  const ending = /\bdefault\b/.test(rules) ? 'ByDefault' : isNullable ? 'OrNull' : ''
  const nullable = isNullable && ending === 'ByDefault' ? `${value} | null` : value
  if (type.startsWith('timestamptz')) return `Instant${ending}`
  if (type.startsWith('json')) return `Json${ending}<${nullable}>`
  return ending === '' ? value : `${ending}<${nullable}>`
}

/** The union of the texts that a check lists. */
function findUnion({ name, rules }: ColumnAbout): string | undefined {
  const [, list] = new RegExp(`check \\(${name} in \\(([^)]*)\\)\\)`).exec(rules) ?? []
  return list?.split(', ').join(' | ')
}

const valueTypes: readonly (readonly [RegExp, string])[] = [
  [/^(text|uuid|date|numeric)\b/, 'string'],
  [/^(int|integer|smallint|bigint|real|double precision)\b/, 'number'],
  [/^boolean\b/, 'boolean'],
  [/^bytea\b/, 'Buffer'],
  [/^timestamptz\(?/, 'Instant'],
  [/^jsonb?\b/, 'JsonRecord'],
]

/** As the pool of open-relational.ts reads it. */
function valueType({ name, type }: ColumnAbout): string {
  const value = valueTypes.find(([pattern]) => pattern.test(type))?.[1]
  if (value === undefined) throw new Error(`no type of a row for the column ${name} ${type}`)
  return type.endsWith('[]') ? `${value}[]` : value
}
