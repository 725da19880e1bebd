import type { ProjectId } from '../../model/project-id.ts'
import type {
  ColumnarReads,
  ColumnarStatements,
  ProjectColumnar,
  QueryOptions,
  QueryParams,
} from './contract.ts'

/** Maximum projects of one statement: their ids are in the filter of every table. */
const projects_max = 100

/**
 * Limits statements to one project: each of them gets the parameter `project`, and reads only rows
 * of the project, even if its text names others.
 */
export function scopeToProject(
  statements: ColumnarStatements,
  database: string,
  project: ProjectId,
): ProjectColumnar {
  const filter = { additional_table_filters: tableFilters(database, [project]) }
  const inserting = prepareWith({ project }, filter, refuseOtherThanInsert)
  return {
    ...scopedReads(statements, { project }, filter),
    insertSelect: async (...asked) => statements.command(...inserting(...asked)),
    insertParquet: async (text, file, { params: given, ...options } = {}) => {
      const [sql, params, scoped] = inserting(text, given, options)
      await statements.insertParquet(sql, file, { ...scoped, params })
    },
  }
}

/** Limits reads to rows of these projects. Throws RangeError for more than 100 projects. */
export function scopeToProjects(
  statements: ColumnarStatements,
  database: string,
  projects: readonly ProjectId[],
): ColumnarReads {
  if (projects.length > projects_max) {
    throw new RangeError(`got ${projects.length} projects, expected at most ${projects_max}`)
  }
  const filter = { additional_table_filters: tableFilters(database, projects) }
  return scopedReads(statements, {}, filter)
}

type Settings = Record<string, string | number>

function scopedReads(
  statements: ColumnarStatements,
  bound: QueryParams,
  filter: Settings,
): ColumnarReads {
  // 1: the statement changes nothing, not even settings, and reads no files or other servers.
  const reading = prepareWith(bound, { ...filter, readonly: 1 }, refuseUnfiltered)
  return {
    query: async <T>(...asked: Asked) => statements.query<T>(...reading(...asked)),
    read: async <T>(...asked: Asked) => statements.read<T>(...reading(...asked)),
    queryParquet: async (...asked) => statements.queryParquet(...reading(...asked)),
    queryRowBinary: async (...asked) => statements.queryRowBinary(...reading(...asked)),
  }
}

type Asked<Options = QueryOptions> = [sql: string, params?: QueryParams, options?: Options]

/** Adds parameters and settings that a statement can't override, and checks its text. */
function prepareWith(bound: QueryParams, settings: Settings, check: (sql: string) => void) {
  return <Options extends QueryOptions>(
    ...[sql, params, options]: Asked<Options>
  ): [string, QueryParams, Options] => {
    check(sql)
    const scoped = { ...options, settings: { ...options?.settings, ...settings } }
    return [sql, { ...params, ...bound }, scoped as Options]
  }
}

/** Returns the setting that adds a condition on the project to every read of a table with rows. */
function tableFilters(database: string, projects: readonly ProjectId[]): string {
  const ids = projects.map((project) => `'${project}'`).join(', ')
  const condition = quoteText(projects.length === 0 ? '0' : `project_id IN (${ids})`)
  const entries = filteredTables.map((table) => `${quoteText(`${database}.${table}`)}:${condition}`)
  return `{${entries.join(',')}}`
}

function quoteText(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

/** Text, names in quotes, and comments, which can't be keywords or names of functions. */
const literals =
  /'(?:[^'\\]|\\[\s\S])*'|(`(?:[^`\\]|\\[\s\S])*`|"(?:[^"\\]|\\[\s\S])*")|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?\*\//g

/**
 * Ways around the filters. A subquery may set settings, in spite of `readonly`; the functions read
 * tables without filters or on other servers; tables of `system` describe the rows of all projects;
 * and text between `$` signs, or a quoted name of a function or database, could hide any of these.
 */
const unfiltered =
  /\bSETTINGS\b|\b(?:merge(?:Tree\w*)?|remote\w*|cluster\w*|loop|dictionary)\s*\(|\b(?:system|information_schema)\s*\.|\$|_quoted_\s*[.(]/i

/** ClickHouse also takes these as quotes. Our statements do not use them. */
const typographicQuotes = /[‘’“”]/

/** Throws TypeError for a statement that could read rows without the filters of its project. */
function refuseUnfiltered(sql: string): void {
  const code = sql.replace(literals, (_, name) => (name === undefined ? ' ' : ' _quoted_ '))
  const [found] = typographicQuotes.exec(sql) ?? unfiltered.exec(code) ?? []
  if (found === undefined) return
  throw new TypeError(`got a statement of a project with "${found}", which could avoid its filter`)
}

function refuseOtherThanInsert(sql: string): void {
  refuseUnfiltered(sql)
  if (/^\s*INSERT INTO\s/i.test(sql)) return
  throw new TypeError('got another statement, expected INSERT INTO')
}

/**
 * Every table with rows of projects. The filters of a project's statements cover these tables, and a
 * test compares the list with the catalogue of the migrated schema.
 */
const tenantTables = [
  'correlations',
  'events',
  'ingest_ledger',
  'ingest_ledger_hours',
  'links',
  'observations',
  'restored_correlations',
  'restored_events',
  'restored_links',
  'restored_observations',
  'restored_traces',
  'signal_minutes',
  'signal_minutes_done',
  'traces',
] as const

/**
 * Names of the tables with rows of projects. In a cluster the rows are in the table with the ending
 * `_local`, so both names need the filter: servers send the settings on with their part of a query.
 */
const filteredTables: readonly string[] = tenantTables.flatMap((name) => [name, `${name}_local`])
