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
import { type Asked, type CommandIo, CouldNotAsk, exitStatus, UsageError } from './command.ts'
import { kindNamed } from './find-kind.ts'
import { rendered, tableOf } from './output.ts'

const request_timeout_ms = 30_000
const page_size = 500
/** More than any cluster should have of one kind: 100,000 resources. */
const pages_max = 200

/** Lists resources of the cluster of the current context. */
export async function get(asked: Asked, io: CommandIo): Promise<number> {
  const [word, name] = asked.words
  const wanted = word === undefined ? kinds : [kindNamed(kinds, word)]
  const all_namespaces = asked.flag('all-namespaces')
  if (all_namespaces && (name ?? asked.value('namespace')) !== undefined) {
    throw new UsageError('got --all-namespaces, expected it without a name and without -n')
  }
  const listed = await listAll(wanted, { asked, name, all_namespaces, signal: io.stop })
  const options = { all_namespaces, wide: asked.flag('wide'), now_ms: io.now_ms() }
  const items = listed.flatMap(({ kind, items }) =>
    items.map((item) => ({ apiVersion, kind: kind.kind, ...item })),
  )
  const list = { apiVersion: 'v1', kind: 'List', items }
  const data = name === undefined ? list : items[0]
  io.out(rendered(asked, data, () => tableOfResources(listed, options)))
  if (!asked.flag('ready')) return exitStatus.ok
  return items.length > 0 && items.every(isReady) ? exitStatus.ok : exitStatus.findings
}

function isReady(item: KubeObject): boolean {
  const of = (field: string) => valueAt(item, `.status.conditions[?(@.type=="Ready")].${field}`)
  return of('status') === 'True' && of('observedGeneration') === item.metadata.generation
}

type Wanted = {
  asked: Asked
  name: string | undefined
  all_namespaces: boolean
  signal: AbortSignal
}

async function listAll(wanted: readonly Kind[], options: Wanted): Promise<Listed[]> {
  const { kube, context_namespace } = currentContext()
  const namespace = options.all_namespaces
    ? undefined
    : (options.asked.value('namespace') ?? context_namespace)
  try {
    const lists = wanted.map(async (kind) => ({
      kind,
      items: await listItems(kube, kind, { ...options, namespace }),
    }))
    return await Promise.all(lists)
  } catch (error) {
    throw error instanceof KubeError ? new CouldNotAsk(error.message) : error
  }
}

/** Whatever is wrong with a kubeconfig, the cluster can't be asked. */
function currentContext(): { kube: KubeClient; context_namespace: string } {
  try {
    const kube = openKube({ request_timeout_ms, clock: systemClock })
    return { kube, context_namespace: currentNamespace() }
  } catch (error) {
    throw new CouldNotAsk(`the kube context can not be read: ${(error as Error).message}`)
  }
}

async function listItems(
  kube: KubeClient,
  kind: Kind,
  { asked, name, namespace, signal }: Wanted & { namespace: string | undefined },
): Promise<KubeObject[]> {
  const [, version = ''] = apiVersion.split('/')
  const resource = { group: apiGroup, version, plural: kind.plural }
  if (name !== undefined && namespace !== undefined) {
    return [await kube.read(resource, { namespace, name })]
  }
  const items: KubeObject[] = []
  const label_selector = asked.value('selector')
  let next: string | undefined
  for (let page = 0; page < pages_max; page += 1) {
    const list = await kube.list(resource, { namespace, label_selector, page_size, next, signal })
    items.push(...list.items)
    next = list.next
    if (next === undefined) return items
  }
  throw new CouldNotAsk(`more than ${items.length} ${kind.plural}: choose with -n or -l`)
}

/** The resources of one kind as a cluster has them. */
export type Listed = { kind: Kind; items: readonly KubeObject[] }

export type TableOptions = {
  all_namespaces: boolean
  wide: boolean
  now_ms: number
}

/** Each kind as a table of its columns, and what Ready says in words. */
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
  description: 'Why it is or is not ready.',
}

/** Longer messages are cut unless the table is wide. */
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
  const cut = wide ? rows : rows.map((row) => [...row.slice(0, -1), shortened(row.at(-1) ?? '')])
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

function shortened(text: string): string {
  return text.length > messageMax ? `${text.slice(0, messageMax - 1)}…` : text
}

/**
 * The value at the JSONPath of a printer column: `.spec.days`,
 * `.status.conditions[?(@.type=="Ready")].status`. undefined where there is none.
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

/** How long ago an instant was: `3d`, `25h`, `90s`, as kubectl says it; empty for no instant. */
export function ageOf(instant: unknown, now_ms: number): string {
  const then_ms = typeof instant === 'string' ? Date.parse(instant) : Number.NaN
  if (Number.isNaN(then_ms)) return ''
  const passed_ms = Math.max(0, now_ms - then_ms)
  // Two of a unit tell more than one of the next: 90s, not 1m.
  const [unit, length_ms] = units.find(([, ms]) => passed_ms >= 2 * ms) ?? ['s', 1_000]
  return `${Math.floor(passed_ms / length_ms)}${unit}`
}
