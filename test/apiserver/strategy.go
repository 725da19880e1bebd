package main

import (
	"context"
	"fmt"
	"reflect"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validation/path"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/storage/names"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// strategy is the behaviour of every built-in: status apart from spec, a generation that counts
// changes of the spec, names that are checked; and no validation of its own.
type strategy struct {
	runtime.ObjectTyper
	names.NameGenerator
	builtin
	// onStatus marks the status subresource: it changes the status and nothing else.
	onStatus bool
}

func strategyOf(one builtin, onStatus bool) strategy {
	return strategy{builtinScheme, names.SimpleNameGenerator, one, onStatus}
}

func (s strategy) NamespaceScoped() bool                                     { return !s.clusterScoped }
func (s strategy) AllowCreateOnUpdate() bool                                 { return false }
func (s strategy) AllowUnconditionalUpdate() bool                            { return true }
func (s strategy) Canonicalize(runtime.Object)                               {}
func (s strategy) WarningsOnCreate(context.Context, runtime.Object) []string { return nil }
func (s strategy) WarningsOnUpdate(_ context.Context, _, _ runtime.Object) []string {
	return nil
}

func (s strategy) PrepareForCreate(_ context.Context, object runtime.Object) {
	if s.hasStatus {
		setZero(fieldOf(object, "Status"))
	}
	if fieldOf(object, "Spec").IsValid() {
		metaOf(object).SetGeneration(1)
	}
	switch typed := object.(type) {
	case *corev1.Secret:
		mergeStringData(typed)
		if typed.Type == "" {
			typed.Type = corev1.SecretTypeOpaque
		}
	case *admissionv1.ValidatingAdmissionPolicy:
		defaultPolicy(typed)
	case *corev1.Namespace:
		typed.Status.Phase = corev1.NamespaceActive
		if typed.Labels == nil {
			typed.Labels = map[string]string{}
		}
		typed.Labels["kubernetes.io/metadata.name"] = typed.Name
	}
}

func (s strategy) PrepareForUpdate(_ context.Context, object, old runtime.Object) {
	spec, status := fieldOf(object, "Spec"), fieldOf(object, "Status")
	if s.onStatus {
		kept := status.Interface()
		metadata := metaOf(object).GetManagedFields()
		reflect.ValueOf(object).Elem().Set(reflect.ValueOf(old.DeepCopyObject()).Elem())
		fieldOf(object, "Status").Set(reflect.ValueOf(kept))
		metaOf(object).SetManagedFields(metadata)
		return
	}
	if s.hasStatus {
		status.Set(fieldOf(old, "Status"))
	}
	generation := metaOf(old).GetGeneration()
	if spec.IsValid() && !equality.Semantic.DeepEqual(spec.Interface(), fieldOf(old, "Spec").Interface()) {
		generation++
	}
	metaOf(object).SetGeneration(generation)
	if secret, ok := object.(*corev1.Secret); ok {
		mergeStringData(secret)
	}
}

func (s strategy) Validate(_ context.Context, object runtime.Object) field.ErrorList {
	name, at := metaOf(object).GetName(), field.NewPath("metadata", "name")
	problems := validation.IsDNS1123Subdomain(name)
	if s.version.Group == "rbac.authorization.k8s.io" {
		problems = path.IsValidPathSegmentName(name)
	}
	var list field.ErrorList
	for _, problem := range problems {
		list = append(list, field.Invalid(at, name, problem))
	}
	return list
}

func (s strategy) ValidateUpdate(_ context.Context, object, old runtime.Object) field.ErrorList {
	secret, isSecret := object.(*corev1.Secret)
	if !isSecret {
		return nil
	}
	before := old.(*corev1.Secret)
	if before.Immutable != nil && *before.Immutable && !equality.Semantic.DeepEqual(secret.Data, before.Data) {
		return field.ErrorList{field.Forbidden(field.NewPath("data"), "field is immutable when `immutable` is set")}
	}
	return nil
}

// GetResetFields tells server-side apply which part an endpoint ignores.
func (s strategy) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	if !s.hasStatus {
		return nil
	}
	ignored := fieldpath.MakePathOrDie("status")
	if s.onStatus {
		ignored = fieldpath.MakePathOrDie("spec")
	}
	return map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(s.version.String()): fieldpath.NewSet(ignored),
	}
}

func mergeStringData(secret *corev1.Secret) {
	if len(secret.StringData) > 0 && secret.Data == nil {
		secret.Data = map[string][]byte{}
	}
	for key, value := range secret.StringData {
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
}

func fieldOf(object runtime.Object, name string) reflect.Value {
	return reflect.ValueOf(object).Elem().FieldByName(name)
}

func setZero(value reflect.Value) {
	if value.IsValid() {
		value.SetZero()
	}
}

func metaOf(object runtime.Object) metav1.Object {
	accessor, err := meta.Accessor(object)
	if err != nil {
		panic(fmt.Sprintf("%T has no metadata: %v", object, err))
	}
	return accessor
}
