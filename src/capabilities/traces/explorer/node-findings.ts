import { z } from 'zod'
import { record } from '../../../model/named-schemas.ts'
import { type Finding, findingSchema } from '../../detection/index.ts'
import type { TreeSource } from '../load-tree.ts'
import type { ReadFindings } from '../trace-path.ts'
import type { TraceTree } from '../tree/contract.ts'

/** Maximum findings of an outline, the earliest first. */
const findings_max = 1_000

/** Reads the findings of the tasks of a tree, without withdrawn ones. */
export async function readFindingsOf(
  { findings }: { findings: ReadFindings },
  { nodes }: TraceTree,
  { project_id, choice }: TreeSource,
): Promise<Finding[]> {
  const tasks = new Set<string>()
  if ('task_id' in choice) tasks.add(choice.task_id)
  else for (const { row } of nodes) if (row?.task_id) tasks.add(row.task_id)
  if (tasks.size === 0) return []
  const all = await findings({ project_id, task_ids: [...tasks] })
  return all.filter(({ state }) => state !== 'withdrawn')
}

const { finding_id, task_id, kind, type, severity, state, summary } = findingSchema.shape

/** The findings of an outline, and their number. */
export const findingFields = {
  findings: z
    .array(
      record('OutlineFinding', {
        finding_id,
        task_id,
        kind,
        type,
        severity,
        state,
        summary,
        nodes: z
          .array(z.int().nonnegative())
          .describe('Indexes of its nodes, in the order of its `places`.'),
      }),
    )
    .describe(
      `Findings with a node in the outline, withdrawn ones excluded; at most ${findings_max}, the earliest.`,
    ),
  findings_total: z.int().nonnegative().describe('Number of these findings without the limit.'),
}

/** Finds the nodes of findings; `indexOf` returns the index of an observation's node. */
export function locateFindings(
  findings: readonly Finding[],
  indexOf: (trace_id: string, id: string) => number | undefined,
) {
  const located = findings.flatMap((finding) => {
    const nodes = finding.places.flatMap((place) => {
      return indexOf(place.trace_id, place.observation_id) ?? []
    })
    return nodes.length === 0 ? [] : [{ ...toFields(finding), nodes }]
  })
  return { findings: located.slice(0, findings_max), findings_total: located.length }
}

function toFields({ finding_id, task_id, kind, type, severity, state, summary }: Finding) {
  return { finding_id, task_id, kind, type, severity, state, summary }
}
