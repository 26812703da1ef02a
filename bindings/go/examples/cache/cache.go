package main

import (
	"container/list"
	"sync"
)

// cache keeps the objects that were used last, as many as fit into it.
type cache struct {
	mutex   sync.Mutex
	objects map[string]*list.Element
	// The object used last is at the front.
	order *list.List
	room  int
}

type object struct {
	name string
	body []byte
}

func newCache(room int) *cache {
	return &cache{objects: map[string]*list.Element{}, order: list.New(), room: room}
}

func (c *cache) get(name string) ([]byte, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	element, found := c.objects[name]
	if !found {
		return nil, false
	}
	c.order.MoveToFront(element)
	return element.Value.(*object).body, true
}

func (c *cache) put(name string, body []byte) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if _, found := c.objects[name]; found {
		return
	}
	c.objects[name] = c.order.PushFront(&object{name, body})
	if c.order.Len() > c.room {
		delete(c.objects, c.order.Remove(c.order.Back()).(*object).name)
	}
}
