import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Feedback() {
  return <Heading title="Feedback" />
}
