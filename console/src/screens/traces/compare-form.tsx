import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { useProjectId } from '../../session/project.ts'
import { Button } from '../../ui/parts.tsx'
import ui from '../../ui/ui.module.css'

/** Asks for the trace to compare with. */
export function CompareForm({ left, right = '' }: { left: string; right?: string }) {
  const project_id = useProjectId()
  const navigate = useNavigate()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const other = String(new FormData(event.currentTarget).get('with')).trim()
    if (other === '') return
    void navigate({
      to: '/p/$project_id/compare',
      params: { project_id },
      search: { left, right: other } as never,
    })
  }
  return (
    <form className={ui.row} onSubmit={submit}>
      <input
        name="with"
        aria-label="Trace to compare with"
        placeholder="Id of another trace"
        defaultValue={right}
      />
      <Button type="submit">Compare</Button>
    </form>
  )
}
