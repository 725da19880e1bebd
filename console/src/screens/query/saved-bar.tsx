import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { useHasRole, useProjectId } from '../../app/project.ts'
import { Button } from '../../ui/parts.tsx'
import { Plain } from '../../ui/text.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { isSameQuery } from './saved-body.ts'
import { readSaved, replaceSaved, requestOf } from './saved-calls.ts'
import type { Draft } from './use-draft.ts'

/** Says which saved query this one comes from, and stores its changes. */
export function SavedBar({ draft }: { draft: Draft }) {
  const project_id = useProjectId()
  const client = useQueryClient()
  const canEdit = useHasRole('editor')
  const [isRunning, setRunning] = useState(false)
  const { saved: id, body, written } = draft
  const query = useQuery({
    queryKey: ['saved query', project_id, id],
    queryFn: ({ signal }) => readSaved(id ?? '', signal),
    enabled: id !== undefined,
  })
  if (id === undefined || query.data === undefined) return null
  const { saved, etag } = query.data
  const { entity, ...rest } = body
  const changed = { entity, window: written, ...rest }
  const hasParameters = saved.parameters.length > 0
  const isSame = isSameQuery(changed, saved.body)
  const update = async () => {
    setRunning(true)
    try {
      const kind = rest.measures === undefined ? ('query' as const) : ('aggregate' as const)
      await replaceSaved(id, { ...requestOf(saved), kind, body: changed }, etag)
      notify(`Saved ${saved.name}`)
    } catch (error) {
      const isStale = error instanceof Problem && error.status === 412
      notifyFault(
        isStale
          ? new Error('The query was changed by another person. Save yours under another name.')
          : error,
      )
    } finally {
      setRunning(false)
      await client.invalidateQueries({ queryKey: ['saved query'] })
      await client.invalidateQueries({ queryKey: ['saved queries'] })
    }
  }
  return (
    <div className={ui.row}>
      <span>
        From{' '}
        <strong>
          <Plain>{saved.name}</Plain>
        </strong>
        {!isSame && !hasParameters && ', changed'}
      </span>
      {!hasParameters && !isSame && (
        <Button
          small
          disabled={!canEdit || isRunning}
          title={canEdit ? undefined : 'Saving needs the role editor'}
          onClick={() => void update()}
        >
          {isRunning ? 'Saving…' : 'Save the changes'}
        </Button>
      )}
    </div>
  )
}
