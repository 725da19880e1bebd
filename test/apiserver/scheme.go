package main

import (
	"reflect"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// builtinScheme knows the types of the table. Each v1 type is the internal one of its group too, so
// that nothing has to be converted between what is stored, held and sent.
var (
	builtinScheme = newBuiltinScheme()
	builtinCodecs = serializer.NewCodecFactory(builtinScheme)
)

func newBuiltinScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	versions := map[schema.GroupVersion]bool{}
	for _, one := range builtins {
		internal := schema.GroupVersion{Group: one.version.Group, Version: runtime.APIVersionInternal}
		for _, object := range []runtime.Object{one.object, one.list} {
			kind := kindOf(object)
			scheme.AddKnownTypeWithName(one.version.WithKind(kind), object)
			scheme.AddKnownTypeWithName(internal.WithKind(kind), object)
		}
		if !versions[one.version] {
			versions[one.version] = true
			metav1.AddToGroupVersion(scheme, one.version)
			utilruntime.Must(scheme.SetVersionPriority(one.version))
		}
	}
	reviews := authorizationv1.SchemeGroupVersion
	scheme.AddKnownTypes(reviews, &authorizationv1.SelfSubjectAccessReview{})
	scheme.AddKnownTypes(schema.GroupVersion{Group: reviews.Group, Version: runtime.APIVersionInternal},
		&authorizationv1.SelfSubjectAccessReview{})
	metav1.AddToGroupVersion(scheme, reviews)
	utilruntime.Must(scheme.SetVersionPriority(reviews))
	scheme.AddUnversionedTypes(schema.GroupVersion{Version: "v1"},
		&metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{},
		&metav1.APIResourceList{})
	return scheme
}

func builtinVersions() []schema.GroupVersion {
	var versions []schema.GroupVersion
	seen := map[schema.GroupVersion]bool{}
	for _, one := range builtins {
		if !seen[one.version] {
			seen[one.version] = true
			versions = append(versions, one.version)
		}
	}
	return versions
}

func kindOf(object runtime.Object) string {
	return reflect.TypeOf(object).Elem().Name()
}

func newOf(object runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(object).Elem()).Interface().(runtime.Object)
}
