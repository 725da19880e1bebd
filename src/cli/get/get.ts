import { systemClock } from '../../kernel/time.ts'
import { apiGroup, apiVersion, type Kind } from '../../operator/contract.ts'
import { kinds } from '../../operator/kinds/index.ts'
import {
  currentNamespace,
  type KubeClient,
  KubeError,
  type KubeObject,
  openKube,
} from '../../platform/kube/index.ts'
import { type Asked, type CommandIo, CouldNotAsk, exitStatus, UsageError } from '../command.ts'
import { kindNamed } from '../kind-names.ts'
import { rendered } from '../output.ts'
import { type Listed, tableOfResources } from './table-of-resources.ts'
import { valueAt } from './value-at.ts'

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
      items: await itemsOf(kube, kind, { ...options, namespace }),
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

async function itemsOf(
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
