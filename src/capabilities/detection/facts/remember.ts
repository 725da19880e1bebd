/**
 * A pure function of an object that is worked out once per object. A reconstruction keeps its
 * objects while they don't change, so that a task that grows costs only what is new.
 */
export function remember<Key extends object, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const made = new WeakMap<Key, { value: Value }>()
  return (key) => {
    const known = made.get(key)
    if (known) return known.value
    const value = make(key)
    made.set(key, { value })
    return value
  }
}
