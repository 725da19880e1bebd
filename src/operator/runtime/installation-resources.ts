import { type KubeClient, KubeError } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { apiGroup, apiVersion, type Kind } from '../contract.ts'
import { secretLabels } from '../names.ts'
import type { InstallationResource, OperatorSettings } from './operator-settings.ts'
import { resourceOf } from './resource-writer.ts'

/** Annotation of the resources that an installation applies, with its namespace and name. */
const installationNote = `${apiGroup}/installation`

/** Labels of every resource that an operator applies. */
const operatorLabels = secretLabels
const label_selector = Object.entries(operatorLabels)
  .map((pair) => pair.join('='))
  .join(',')

/** Resources of an installation that are compared; it has a few. */
const page_size = 1_000

/** Differs from the operator's own manager, whose applies would remove these fields. */
const field_manager = 'looptrace-installation'

type Options = {
  kube: KubeClient
  kinds: readonly Kind[]
  settings: OperatorSettings
  logger: Logger
}

/**
 * Applies the ProjectGrants and the default IncidentRules of the installation's settings, and deletes
 * those that it applied before and that are no longer in the settings. Resources of others are left
 * alone. A failure is logged: resources that exist stay in force.
 */
export async function applyInstallationResources(options: Options): Promise<void> {
  const { kinds, settings } = options
  const { namespaces, namespace, grants, default_rules } = settings
  const grantKind = kinds.find(({ toGrant }) => toGrant !== undefined)
  const ruleKind = kinds.find(({ kind }) => kind === 'IncidentRule')
  await applyAll(options, grantKind, { namespace: '', declared: grants })
  if (namespaces.length > 0 && !namespaces.includes(namespace)) return
  await applyAll(options, ruleKind, { namespace, declared: default_rules })
}

async function applyAll(
  { kube, settings: { installation }, logger }: Options,
  kind: Kind | undefined,
  { namespace, declared }: { namespace: string; declared: readonly InstallationResource[] },
): Promise<void> {
  if (kind === undefined) return
  const resource = resourceOf(kind)
  const annotations = { [installationNote]: installation }
  try {
    for (const { name, spec } of declared) {
      const metadata = { name, namespace, labels: operatorLabels, annotations }
      const draft = { apiVersion, kind: kind.kind, metadata, spec }
      await kube.apply(resource, draft, { field_manager })
    }
    const at = namespace === '' ? {} : { namespace }
    const { items } = await kube.list(resource, { ...at, label_selector, page_size })
    const names = new Set(declared.map(({ name }) => name))
    const former = items
      .map(({ metadata }) => metadata)
      .filter(({ name }) => !names.has(name))
      .filter((metadata) => metadata.annotations?.[installationNote] === installation)
    for (const { name, uid } of former) await kube.remove(resource, { namespace, name }, { uid })
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    const what = `applying the resources of the installation failed: ${kind.kind}`
    logger.warn({ reason: error.message }, what)
  }
}
