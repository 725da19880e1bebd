import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Conversation() {
  return <Heading title="Conversation" />
}
