import { type KubeClient, KubeError } from '../../platform/kube/index.ts'
import type { Logger } from '../../platform/telemetry/index.ts'
import { apiGroup, apiVersion, type Kind } from '../contract.ts'
import { secretLabels } from '../names.ts'
import type { OperatorSettings } from './operator-settings.ts'
import { resourceOf } from './resource-writer.ts'

/** Annotation of the grants that an installation applies, with its namespace and name. */
const installationNote = `${apiGroup}/installation`

/** Labels of every grant that an operator applies. */
const operatorLabels = secretLabels
const label_selector = Object.entries(operatorLabels)
  .map((pair) => pair.join('='))
  .join(',')

/** Grants of an installation that are compared; it has a few. */
const page_size = 1_000

/** Differs from the operator's own manager, whose applies would remove these fields. */
const field_manager = 'looptrace-installation'

/**
 * Applies the ProjectGrants of the installation's settings and deletes those that it applied before
 * and that are no longer in the settings. Grants of others are left alone. Does nothing without a
 * kind of grants. A failure is logged: grants that exist stay in force.
 */
export async function applyInstallationGrants(options: {
  kube: KubeClient
  kinds: readonly Kind[]
  settings: OperatorSettings
  logger: Logger
}): Promise<void> {
  const { kube, kinds, settings, logger } = options
  const kind = kinds.find(({ toGrant }) => toGrant !== undefined)
  if (kind === undefined) return
  const resource = resourceOf(kind)
  const annotations = { [installationNote]: settings.installation }
  try {
    for (const { name, spec } of settings.grants) {
      const metadata = { name, namespace: '', labels: operatorLabels, annotations }
      const draft = { apiVersion, kind: kind.kind, metadata, spec }
      await kube.apply(resource, draft, { field_manager })
    }
    const { items } = await kube.list(resource, { label_selector, page_size })
    const declared = new Set(settings.grants.map(({ name }) => name))
    const former = items
      .map(({ metadata }) => metadata)
      .filter(({ name }) => !declared.has(name))
      .filter((metadata) => metadata.annotations?.[installationNote] === settings.installation)
    for (const { name, uid } of former) {
      await kube.remove(resource, { namespace: '', name }, { uid })
    }
  } catch (error) {
    if (!(error instanceof KubeError)) throw error
    logger.warn({ reason: error.message }, 'applying the grants of the installation failed')
  }
}
