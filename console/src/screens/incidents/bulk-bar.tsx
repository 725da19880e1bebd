import { useMutation, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import type { AcknowledgeIncidentsReply, Incident } from '../../api/schema.gen.d.ts'
import { useKeys } from '../../app/keys.ts'
import { useHasRole } from '../../app/project.ts'
import { Button, classes } from '../../ui/parts.tsx'
import { notify, notifyFault } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'
import css from './incidents.module.css'
import { refreshIncidents } from './move-incident.ts'

/** Incidents of one call. */
const incidents_max = 100

/** The bar that acknowledges several incidents at once. */
export function BulkBar({ chosen, onDone }: { chosen: readonly Incident[]; onDone: () => void }) {
  const client = useQueryClient()
  const isEditor = useHasRole('editor')
  const acknowledge = useMutation({
    mutationFn: async () => {
      const results: AcknowledgeIncidentsReply['results'] = []
      for (let at = 0; at < chosen.length; at += incidents_max) {
        const incidents = chosen.slice(at, at + incidents_max).map((one) => one.incident_id)
        const { data } = await call.POST('/api/v2/observability/incidents/ack', {
          body: { incidents },
        })
        results.push(...(data?.results ?? []))
      }
      return results
    },
    onSuccess: (results) => {
      notify(summaryOf(results))
      onDone()
    },
    onError: notifyFault,
    onSettled: () => refreshIncidents(client),
  })
  const canAct = isEditor && !acknowledge.isPending
  useKeys(chosen.length > 0 && canAct ? { a: () => acknowledge.mutate() } : {})
  if (chosen.length === 0) return null
  return (
    <div className={classes(ui.notice, css.bar)}>
      <span className={ui.grow}>{chosen.length} chosen</span>
      <Button look="primary" disabled={!canAct} onClick={() => acknowledge.mutate()}>
        {acknowledge.isPending ? 'Acknowledging…' : 'Acknowledge'} <kbd>a</kbd>
      </Button>
      <Button look="plain" onClick={onDone}>
        Choose none
      </Button>
      {!isEditor && <span className={ui.soft}>Only editors of the project can acknowledge.</span>}
    </div>
  )
}

/** Says what became of each incident: `3 acknowledged, 1 already resolved`. */
function summaryOf(results: AcknowledgeIncidentsReply['results']): string {
  const texts = { acknowledged: 'acknowledged', already: 'were already acknowledged' } as const
  const more = { resolved: 'already resolved', not_found: 'not found' } as const
  const counted = Map.groupBy(results, ({ result }) => ({ ...texts, ...more })[result])
  return [...counted].map(([text, some]) => `${some.length} ${text}`).join(', ')
}
