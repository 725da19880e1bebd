import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Review() {
  return <Heading title="Review" />
}
