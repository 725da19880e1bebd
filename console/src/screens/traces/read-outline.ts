import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { useLive } from '../../session/live.ts'
import { useProjectId } from '../../session/project.ts'
import { type Outline, toTree } from './outline.ts'

/** The trace or task of a tree. */
export type Source = { kind: 'trace' | 'task'; id: string }

async function readOutline({ kind, id }: Source, signal: AbortSignal): Promise<Outline> {
  const query = { view: 'outline' } as const
  const { data } =
    kind === 'trace'
      ? await call.GET('/api/v2/observability/traces/{trace_id}/explorer', {
          params: { path: { trace_id: id }, query },
          signal,
        })
      : await call.GET('/api/v1/tasks/{task_id}/explorer', {
          params: { path: { task_id: id }, query },
          signal,
        })
  if (data === undefined || data.view !== 'outline') throw new Error('The server sent no outline')
  return data
}

/** Reads all nodes of a trace or task, and reads them again when it changes. */
export function useTree(source: Source) {
  const project_id = useProjectId()
  const client = useQueryClient()
  const key = ['outline', project_id, source.kind, source.id]
  useLive(`${source.kind}:${source.id}`, () => void client.invalidateQueries({ queryKey: key }))
  return useQuery({
    queryKey: key,
    queryFn: async ({ signal }) => toTree(await readOutline(source, signal)),
    // Columns of 100,000 nodes are not compared field by field.
    structuralSharing: false,
  })
}
