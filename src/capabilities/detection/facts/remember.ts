/**
 * Computes a pure function once per object. A reconstruction keeps unchanged objects, so a growing
 * task costs only its new parts.
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

/**
 * Computes a function once per object, and again when what it depends on has changed: `depends` are
 * objects that a reconstruction keeps, and numbers.
 */
export function rememberFor<Key extends object, Value>(): (
  key: Key,
  depends: readonly unknown[],
  make: () => Value,
) => Value {
  const made = new WeakMap<Key, { depends: readonly unknown[]; value: Value }>()
  return (key, depends, make) => {
    const known = made.get(key)
    if (known?.depends.every((one, at) => one === depends[at]) === true) return known.value
    const value = make()
    made.set(key, { depends, value })
    return value
  }
}
