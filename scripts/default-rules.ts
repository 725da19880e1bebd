import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'

const rule = z.object({
  kind: z.literal('IncidentRule'),
  metadata: z.object({ name: z.string() }),
  spec: z.looseObject({}),
})

/** Fields that the values of the chart set: the names of a project and its channels. */
const chartFields = new Set(['projectRef', 'notify', 'escalation'])

/**
 * Returns the default rules of the chart: the rules of `examples/incident-rules/`, without the names
 * of projects and channels. Their tests are in the folder `tests`.
 */
export async function defaultRules(root: string): Promise<{ path: string; content: string }> {
  const folder = 'examples/incident-rules'
  const found = await Array.fromAsync(glob('*.yaml', { cwd: join(root, folder) }))
  const names = found.toSorted()
  const texts = await Promise.all(names.map((name) => readFile(join(root, folder, name), 'utf8')))
  const rules = texts
    .flatMap((text) => parseAllDocuments(text).map((document) => rule.parse(document.toJS())))
    .map(({ metadata: { name }, spec }) => {
      const fields = Object.entries(spec).filter(([field]) => !chartFields.has(field))
      return { name, spec: Object.fromEntries(fields) }
    })
  const content = `${JSON.stringify(rules, null, 2)}\n`
  return { path: 'charts/looptrace/files/default-rules.json', content }
}
