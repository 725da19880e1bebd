import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Conversations() {
  return <Heading title="Conversations" />
}
