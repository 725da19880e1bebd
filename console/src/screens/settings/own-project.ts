import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Project } from '../../api/schema.gen.d.ts'
import { notify } from '../../ui/toasts.tsx'

/** The properties of each part of the settings. */
export type Own = { project: Project; mayChange: boolean; reload: () => void }

/** A write of one part: its state, and a function that runs it. */
export function useWrite(done: string) {
  const client = useQueryClient()
  const [error, setError] = useState<unknown>()
  const [isRunning, setRunning] = useState(false)
  const run = async (write: () => Promise<unknown>) => {
    setRunning(true)
    setError(undefined)
    try {
      await write()
      notify(done)
      await client.invalidateQueries()
    } catch (fault) {
      setError(fault)
    }
    setRunning(false)
  }
  const forget = () => setError(undefined)
  return { run, error, isRunning, forget }
}

/** Returns the parameters of a write to this version of a project. */
export function toVersion({ id, version }: Project) {
  return { path: { project_id: id }, header: { 'If-Match': `"${version}"` } }
}
