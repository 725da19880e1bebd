import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/client.ts'
import { useProjectId } from '../../app/project.ts'
import { formatCount } from '../../ui/format.ts'
import { Button, Severity, Time } from '../../ui/parts.tsx'
import { Fault } from '../../ui/states.tsx'
import { Plain } from '../../ui/text.tsx'
import ui from '../../ui/ui.module.css'
import { type Draft, requestOf } from './draft.ts'

/** Shows which unresolved incidents the draft would mute. */
export function SuppressionPreview({ draft, zone }: { draft: Draft; zone: string }) {
  const project_id = useProjectId()
  const preview = useMutation({
    mutationFn: async () => {
      const request = requestOf(draft, zone)
      const body = { ...request, comment: request.comment === '' ? 'preview' : request.comment }
      const { data } = await call.POST('/api/v2/observability/incidents/suppressions/preview', {
        body,
      })
      return data
    },
  })
  const { data, error } = preview
  return (
    <section className={ui.stack} aria-label="Preview">
      <div className={ui.row}>
        <Button disabled={preview.isPending} onClick={() => preview.mutate()}>
          {preview.isPending ? 'Comparing…' : 'Preview what it mutes'}
        </Button>
        {data !== undefined && (
          <span role="status">
            It would mute {formatCount(data.matching)} of {formatCount(data.compared)} unresolved
            incidents
            {data.active ? ' now' : ''}
            {data.next_start !== null && (
              <>
                , next from <Time at={data.next_start} />
              </>
            )}
            .
          </span>
        )}
      </div>
      {error !== null && <Fault error={error} />}
      {data?.warnings.map((warning) => (
        <p key={warning}>Warning: {warning}</p>
      ))}
      {data !== undefined && data.incidents.length > 0 && (
        <ul>
          {data.incidents.map(({ incident_id, number, title, severity }) => (
            <li key={incident_id}>
              <Severity of={severity} />{' '}
              <Link
                to="/p/$project_id/incidents/$incident_id"
                params={{ project_id, incident_id }}
                target="_blank"
              >
                #{number} <Plain>{title}</Plain>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
