import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Task() {
  return <Heading title="Task" />
}
