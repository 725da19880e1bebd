import { systemClock } from '../kernel/time.ts'
import {
  apiGroup,
  apiVersion,
  columnsOf,
  type Kind,
  kinds,
  type PrinterColumn,
} from '../operator/index.ts'
import {
  currentNamespace,
  type KubeClient,
  KubeError,
  type KubeObject,
  openKube,
} from '../platform/kube/index.ts'
import { type Arguments, type CommandIo, exitStatus, NoAnswer, UsageError } from './command.ts'
import { findKind } from './find-kind.ts'
import { render } from './output.ts'
import { tableOf } from './terminal/table.ts'

const request_timeout_ms = 30_000
const page_size = 500
/** Bounds a list to 100,000 resources, more than any cluster should have of one kind. */
const pages_max = 200

/** Lists resources of the cluster of the current context. */
export async function get(args: Arguments, io: CommandIo): Promise<number> {
  const [word, name] = args.words
  const wanted = word === undefined ? kinds : [findKind(kinds, word)]
  const all_namespaces = args.flag('all-namespaces')
  if (all_namespaces && (name ?? args.value('namespace')) !== undefined) {
    throw new UsageError('got --all-namespaces, expected it without a name and without -n')
  }
  const listed = await listAll(wanted, { args, name, all_namespaces, signal: io.stop })
  const options = { all_namespaces, wide: args.flag('wide'), now_ms: io.now_ms() }
  const items = listed.flatMap(({ kind, items }) =>
    items.map((item) => ({ apiVersion, kind: kind.kind, ...withoutEmptyNamespace(item) })),
  )
  const list = { apiVersion: 'v1', kind: 'List', items }
  const data = name === undefined ? list : items[0]
  io.out(render(args, data, () => tableOfResources(listed, options)))
  if (!args.flag('ready')) return exitStatus.ok
  return items.length > 0 && items.every(isReady) ? exitStatus.ok : exitStatus.findings
}

type Shown = Omit<KubeObject, 'metadata'> & {
  metadata: Omit<KubeObject['metadata'], 'namespace'> & { namespace?: string }
}

/** Removes the empty namespace of a cluster-scoped resource, as kubectl shows it. */
function withoutEmptyNamespace(item: KubeObject): Shown {
  const { namespace, ...metadata } = item.metadata
  return namespace === '' ? { ...item, metadata } : item
}

function isReady(item: Shown): boolean {
  const ready = (field: string) => valueAt(item, `.status.conditions[?(@.type=="Ready")].${field}`)
  return ready('status') === 'True' && ready('observedGeneration') === item.metadata.generation
}

type Wanted = {
  args: Arguments
  name: string | undefined
  all_namespaces: boolean
  signal: AbortSignal
}

async function listAll(wanted: readonly Kind[], options: Wanted): Promise<Listed[]> {
  const { kube, context_namespace } = currentContext()
  const namespace = options.all_namespaces
    ? undefined
    : (options.args.value('namespace') ?? context_namespace)
  try {
    const lists = wanted.map(async (kind) => ({
      kind,
      items: await listItems(kube, kind, { ...options, namespace }),
    }))
    return await Promise.all(lists)
  } catch (error) {
    throw error instanceof KubeError ? new NoAnswer(error.message) : error
  }
}

/** Opens the cluster of the current context. Throws `NoAnswer` for any fault in a kubeconfig. */
function currentContext(): { kube: KubeClient; context_namespace: string } {
  try {
    const kube = openKube({ request_timeout_ms, clock: systemClock })
    return { kube, context_namespace: currentNamespace() }
  } catch (error) {
    throw new NoAnswer(`reading the kube context failed: ${(error as Error).message}`)
  }
}

async function listItems(
  kube: KubeClient,
  kind: Kind,
  { args, name, signal, ...in_namespace }: Wanted & { namespace: string | undefined },
): Promise<KubeObject[]> {
  const namespace = kind.scope === 'Cluster' ? '' : in_namespace.namespace
  const [, version = ''] = apiVersion.split('/')
  const resource = { group: apiGroup, version, plural: kind.plural }
  if (name !== undefined && namespace !== undefined) {
    return [await kube.read(resource, { namespace, name })]
  }
  const items: KubeObject[] = []
  const label_selector = args.value('selector')
  let next: string | undefined
  for (let page = 0; page < pages_max; page += 1) {
    const list = await kube.list(resource, { namespace, label_selector, page_size, next, signal })
    items.push(...list.items)
    next = list.next
    if (next === undefined) return items
  }
  throw new NoAnswer(`more than ${items.length} ${kind.plural}: narrow the list with -n or -l`)
}

/** The resources of one kind in a cluster. */
export type Listed = { kind: Kind; items: readonly KubeObject[] }

export type TableOptions = {
  all_namespaces: boolean
  wide: boolean
  now_ms: number
}

/** Formats each kind as a table of its columns and the message of Ready. */
export function tableOfResources(listed: readonly Listed[], options: TableOptions): string {
  const tables = listed
    .filter(({ items }) => items.length > 0)
    .map(({ kind, items }) => tableOfKind(kind, items, options))
  return tables.length === 0 ? 'No resources found.\n' : tables.join('\n')
}

const messageColumn: PrinterColumn = {
  name: 'Message',
  type: 'string',
  path: '.status.conditions[?(@.type=="Ready")].message',
  description: 'Message of the Ready condition.',
}

/** Maximum characters of a message, unless the table is wide. */
const messageMax = 80

function tableOfKind(kind: Kind, items: readonly KubeObject[], options: TableOptions): string {
  const { all_namespaces, wide, now_ms } = options
  const columns = [...columnsOf(kind), messageColumn].filter(
    ({ priority }) => wide || priority !== 1,
  )
  const rows = items.map((item) => [
    ...(all_namespaces ? [item.metadata.namespace] : []),
    `${kind.singular}/${item.metadata.name}`,
    ...columns.map((column) => cellOf(item, column, now_ms)),
  ])
  const cut = wide ? rows : rows.map((row) => [...row.slice(0, -1), shorten(row.at(-1) ?? '')])
  const headings = [
    ...(all_namespaces ? ['NAMESPACE'] : []),
    'NAME',
    ...columns.map(({ name }) => name.toUpperCase()),
  ]
  return tableOf(headings, cut)
}

function cellOf(item: KubeObject, { path, type }: PrinterColumn, now_ms: number): string {
  const value = valueAt(item, path)
  if (type === 'date') return ageOf(value, now_ms)
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function shorten(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax - 1)}…` : text
}

/**
 * Returns the value at the JSONPath of a printer column, or undefined: `.spec.days`,
 * `.status.conditions[?(@.type=="Ready")].status`.
 */
export function valueAt(object: unknown, path: string): unknown {
  const steps = path.matchAll(/\.([\w-]+)|\[\?\(@\.(\w+)==["']([^"']*)["']\)\]|\[(\d+)\]/g)
  return steps.reduce<unknown>((value, [, field, key, wanted, index]) => {
    if (key !== undefined) return itemsOf(value).find((item) => fieldOf(item, key) === wanted)
    if (index !== undefined) return itemsOf(value)[Number(index)]
    return fieldOf(value, field ?? '')
  }, object)
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as Record<string, unknown>)[name]
}

function itemsOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

const units: readonly [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** Formats the age of an instant as kubectl does: `3d`, `25h`, `90s`. Empty for an invalid one. */
export function ageOf(instant: unknown, now_ms: number): string {
  const then_ms = typeof instant === 'string' ? Date.parse(instant) : Number.NaN
  if (Number.isNaN(then_ms)) return ''
  const passed_ms = Math.max(0, now_ms - then_ms)
  // A larger unit is used from two on: 90s instead of 1m.
  const [unit, length_ms] = units.find(([, ms]) => passed_ms >= 2 * ms) ?? ['s', 1_000]
  return `${Math.floor(passed_ms / length_ms)}${unit}`
}
