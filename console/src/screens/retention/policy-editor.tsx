import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, call } from '../../api/client.ts'
import { faultsOf } from '../../api/problem.ts'
import type { RetentionPolicy } from '../../api/schema.gen.d.ts'
import { useUrlState } from '../../browser/use-search.ts'
import { Changed } from '../../ui/changed.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { isUnderWay, pollWhile } from '../../ui/job.tsx'
import { Button } from '../../ui/parts.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import { draftOf, requestOf } from './draft.ts'
import { PolicyFields } from './policy-fields.tsx'
import { Run } from './run.tsx'

const path = '/api/v2/observability/retention-policy'

/**
 * The editor of the policy. A policy can be saved only after a dry run of the same rules, whose
 * result is on the screen: a deletion cannot be undone.
 */
export function PolicyEditor({ stored, isAdmin }: { stored: RetentionPolicy; isAdmin: boolean }) {
  const [draft, setDraft] = useState(() => draftOf(stored))
  const [tried, setTried] = useState<{ rules: string; job_id: string }>()
  const [error, setError] = useState<unknown>()
  const [isRemoving, setRemoving] = useState(false)
  const [{ dry_run }, changeUrl] = useUrlState()
  const client = useQueryClient()
  const { request, faults } = requestOf(draft)
  const rules = JSON.stringify(request)
  const isLocked = !isAdmin || stored.managed_by !== null
  const isChanged = rules !== JSON.stringify(requestOf(draftOf(stored)).request)
  const dry = useDryRun(tried?.job_id ?? dry_run)
  const isTried = tried?.rules === rules && dry.data?.state === 'succeeded'
  const attempt = async <T,>(action: () => Promise<T>): Promise<T | undefined> => {
    setError(undefined)
    try {
      return await action()
    } catch (fault) {
      setError(fault)
      return undefined
    }
  }
  const tryOut = () =>
    attempt(async () => {
      const { data } = await call.PUT(path, {
        params: { query: { dry_run: true } },
        body: request,
      })
      if (data === undefined || !('job_id' in data)) throw new Error('No dry run was started')
      const { job_id } = data
      setTried({ rules, job_id })
      changeUrl({ dry_run: job_id })
    })
  const save = () =>
    attempt(async () => {
      const params = { header: { 'If-Match': `"${stored.version}"` } }
      await call.PUT(path, { params, body: request })
      notify('The policy is saved.')
      changeUrl({ dry_run: undefined })
      await client.invalidateQueries({ queryKey: ['get', path] })
    })
  const reload = () => client.invalidateQueries({ queryKey: ['get', path] })
  const shown = [...faults, ...faultsOf(error)]
  return (
    <div className={ui.stack}>
      {!isAdmin && <p className={ui.notice}>Only administrators of the project change this.</p>}
      <PolicyFields draft={draft} onChange={setDraft} faults={shown} isLocked={isLocked} />
      {error !== undefined && <Changed error={error} onReload={() => void reload()} />}
      <div className={ui.row}>
        <Button
          look={isTried ? undefined : 'primary'}
          onClick={() => void tryOut()}
          disabled={!isAdmin || faults.length > 0 || isUnderWay(dry.data?.state)}
        >
          {isUnderWay(dry.data?.state) ? 'The dry run is running…' : 'See what would go'}
        </Button>
        <Button
          look={isTried ? 'primary' : undefined}
          onClick={() => void save()}
          disabled={isLocked || !isTried || !isChanged}
        >
          Save the policy
        </Button>
        {stored.version > 0 && (
          <Button look="danger" disabled={isLocked} onClick={() => setRemoving(true)}>
            Remove the policy
          </Button>
        )}
        <span className={ui.soft}>{hintOf({ isLocked, isChanged, isTried })}</span>
      </div>
      {dry.job_id !== undefined && <Run job_id={dry.job_id} />}
      <RemovePolicy stored={stored} open={isRemoving} onClose={() => setRemoving(false)} />
    </div>
  )
}

/** Reads the dry run that the editor started, or that the URL names. */
function useDryRun(job_id: string | undefined) {
  const { data } = api.useQuery(
    'get',
    '/api/v2/observability/retention/runs/{job_id}',
    { params: { path: { job_id: job_id ?? '' }, query: { limit: 1 } } },
    {
      enabled: job_id !== undefined,
      refetchInterval: ({ state }) => pollWhile([state.data?.state]),
    },
  )
  return { job_id, data }
}

function hintOf(is: { isLocked: boolean; isChanged: boolean; isTried: boolean }): string {
  if (is.isLocked) return ''
  if (!is.isChanged) return 'Nothing is changed.'
  return is.isTried ? 'The dry run below is of these rules.' : 'Saving needs a dry run first.'
}

function RemovePolicy({
  stored,
  open,
  onClose,
}: {
  stored: RetentionPolicy
  open: boolean
  onClose: () => void
}) {
  const client = useQueryClient()
  const remove = api.useMutation('delete', path, {
    onSuccess: async () => {
      notify('The policy is removed. Everything is kept for ever.')
      await client.invalidateQueries({ queryKey: ['get', path] })
    },
    onError: notifyFault,
    onSettled: onClose,
  })
  return (
    <Confirm
      title="Remove the policy?"
      action="Remove the policy"
      open={open}
      onClose={onClose}
      isRunning={remove.isPending}
      onConfirm={() => remove.mutate({ params: { header: { 'If-Match': `"${stored.version}"` } } })}
    >
      <p>Daily runs end, and everything that is stored now is kept for ever.</p>
    </Confirm>
  )
}
